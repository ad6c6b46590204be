with

events as (

    select * from {{ ref('int_tiers__delete_events_ordered') }}

),

{# a run deletes one segment after the other and ends with the first that
   fails, so two marks in a row are two runs; else at least the interval lies
   between the runs #}
events_numbered as (

    select
        cluster_id,
        topic_id,
        partition_index,
        log_offset,
        segment_id,
        segment_state,
        event_at_ms,
        count_if(
            previous_state is null
            or (
                segment_state = 'DELETE_SEGMENT_STARTED'
                and (
                    previous_state = 'DELETE_SEGMENT_STARTED'
                    or event_at_ms - previous_event_at_ms >= task_interval_ms
                )
            )
        ) over (
            partition by
                cluster_id,
                topic_id,
                partition_index
            order by log_offset
        ) as run_number

    from events

),

tasks as (

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

    from events_numbered

    group by
        cluster_id,
        topic_id,
        partition_index,
        run_number

),

delete_tasks_found as (

    select
        *,
        run_number = max(run_number) over (
            partition by
                cluster_id,
                topic_id,
                partition_index
        ) as is_last

    from tasks

)

select * from delete_tasks_found
