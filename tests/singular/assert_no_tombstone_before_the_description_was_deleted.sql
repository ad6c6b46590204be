-- A streams group whose description was stored in this life of the group was
-- removed only after the plugin's last answer was that it is deleted.
with

tombstones as (

    select
        cluster_id,
        group_id,
        run_id,
        has_plugin and group_type = 'streams' as is_gated,
        removed_at_ms,
        lag(run_id, 1, '')
            over (partition by cluster_id, group_id order by run_id)
            as previous_run_id

    from {{ ref('stg_history__tombstones') }}

    where topic_name is null

),

-- what the log said last of the group, before it was removed
last_records as (

    select
        tombstones.cluster_id,
        tombstones.group_id,
        tombstones.run_id,
        max_by(
            group_records.stored_description_topology_epoch,
            struct(group_records.partition_index, group_records.log_offset)
        ) <> -1 as is_stored

    from tombstones

    inner join {{ ref('stg_decoded__group_records') }} as group_records
        on
            tombstones.cluster_id = group_records.cluster_id
            and tombstones.group_id = group_records.group_id
            and group_records.record_type = 17
            and tombstones.run_id > group_records.run_id
            and tombstones.previous_run_id < group_records.run_id

    group by
        tombstones.cluster_id,
        tombstones.group_id,
        tombstones.run_id

),

last_calls as (

    select
        tombstones.cluster_id,
        tombstones.group_id,
        tombstones.run_id,
        max_by(
            if(
                plugin_calls.finished_at_ms <= tombstones.removed_at_ms,
                plugin_calls.outcome,
                'unanswered'
            ),
            plugin_calls.finished_at_ms
        ) as outcome

    from tombstones

    inner join {{ ref('stg_history__plugin_calls') }} as plugin_calls
        on
            tombstones.cluster_id = plugin_calls.cluster_id
            and tombstones.group_id = plugin_calls.group_id
            and plugin_calls.operation = 'delete'
            and tombstones.run_id >= plugin_calls.run_id
            and tombstones.previous_run_id < plugin_calls.run_id

    group by
        tombstones.cluster_id,
        tombstones.group_id,
        tombstones.run_id

)

select
    tombstones.cluster_id,
    tombstones.group_id,
    tombstones.run_id,
    last_calls.outcome

from tombstones

left join last_records
    on
        tombstones.cluster_id = last_records.cluster_id
        and tombstones.group_id = last_records.group_id
        and tombstones.run_id = last_records.run_id

left join last_calls
    on
        tombstones.cluster_id = last_calls.cluster_id
        and tombstones.group_id = last_calls.group_id
        and tombstones.run_id = last_calls.run_id

where
    tombstones.is_gated
    and coalesce(
        last_calls.outcome,
        if(last_records.is_stored, 'never asked', 'success')
    ) <> 'success'
