with

{# of the syncs before this offset the last start keeps only the newest #}
flows as (

    select
        flows.flow,
        flows.syncs_used = 'latest' as keeps_latest,
        if(
            flows.reads_checkpoints
            and max_by(task_starts.checkpoints_readable, task_starts.started_at_ms),
            0,
            max_by(task_starts.syncs_end_offset, task_starts.started_at_ms)
        ) as forgotten_to_offset

    from {{ ref('int_mirrors__flows_configured') }} as flows

    left join {{ ref('stg_state__mirror_task_starts') }} as task_starts using (flow)

    where flows.syncs_used <> 'all'

    group by
        flows.flow,
        flows.syncs_used,
        flows.reads_checkpoints

),

commits_due as (

    select * from {{ ref('int_mirrors__commits_due') }}

    where
        not is_group_filtered
        and not is_topic_filtered
        and committed_offset is not null

),

syncs as (

    select
        syncs.flow,
        syncs.topic_name,
        syncs.partition_index,
        struct(
            syncs.syncs_incarnation,
            syncs.sync_log_offset,
            syncs.upstream_offset,
            syncs.downstream_offset,
            syncs.incarnation,
            syncs.parity_incarnation,
            syncs.recorded_at_ms,
            flows.keeps_latest
            or coalesce(
                syncs.sync_log_offset < flows.forgotten_to_offset, false
            ) as clears_store
        ) as recorded

    from {{ ref('stg_state__offset_syncs') }} as syncs

    inner join flows using (flow)

    left semi join commits_due
        on
            syncs.flow = commits_due.flow
            and syncs.topic_name = commits_due.topic_name
            and syncs.partition_index = commits_due.partition_index

),

syncs_ordered as (

    select
        flow,
        topic_name,
        partition_index,
        array_sort(collect_list(recorded)) as syncs

    from syncs

    group by
        flow,
        topic_name,
        partition_index

),

stores_filled as (

    select
        flow,
        topic_name,
        partition_index,
        transform(
            sort_array(array_distinct({{ sparse_store('syncs') }}), false),
            kept -> struct(
                kept.syncs_incarnation,
                kept.sync_log_offset,
                kept.upstream_offset,
                kept.downstream_offset,
                kept.incarnation,
                kept.parity_incarnation,
                kept.recorded_at_ms
            )
        ) as syncs_kept

    from syncs_ordered

)

select * from stores_filled
