with

events as (

    select * from {{ ref('int_tiers__delete_events_numbered') }}

),

runs as (

    select
        cluster_id,
        topic_id,
        partition_index,
        run_number,
        min(event_at_ms) as started_at_ms,
        min(log_offset) as started_log_offset,
        max_by(event_at_ms, log_offset) as last_event_at_ms,
        collect_set(segment_id) as segment_ids,
        collect_list(
            if(segment_state = 'DELETE_SEGMENT_FINISHED', segment_id, null)
        ) as deleted_segment_ids,
        max_by(segment_state, log_offset) = 'DELETE_SEGMENT_STARTED'
            as ends_unfinished

    from events

    group by
        cluster_id,
        topic_id,
        partition_index,
        run_number

),

delete_runs_found as (

    select
        *,
        run_number = max(run_number) over (
            partition by
                cluster_id,
                topic_id,
                partition_index
        ) as is_last

    from runs

)

select * from delete_runs_found
