-- Where the plugin was asked about a streams group, its last answer before the
-- tombstone was that the description is deleted, and it had answered by then.
with

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

    from {{ ref('stg_history__tombstones') }} as tombstones

    inner join {{ ref('stg_history__plugin_calls') }} as plugin_calls
        on
            tombstones.cluster_id = plugin_calls.cluster_id
            and tombstones.group_id = plugin_calls.group_id
            and plugin_calls.operation = 'delete'
            and tombstones.removed_at_ms >= plugin_calls.started_at_ms

    where
        tombstones.topic_name is null
        and tombstones.group_type = 'streams'
        and tombstones.has_plugin

    group by
        tombstones.cluster_id,
        tombstones.group_id,
        tombstones.run_id

)

select
    cluster_id,
    group_id,
    run_id,
    outcome

from last_calls

where outcome <> 'success'
