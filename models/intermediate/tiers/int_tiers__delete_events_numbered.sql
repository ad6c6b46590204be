with

events as (

    select * from {{ ref('int_tiers__delete_events_ordered') }}

),

{# a run deletes one segment after the other and ends with the first that
   fails, so two marks in a row are two runs; else at least the interval lies
   between the runs #}
delete_events_numbered as (

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

)

select * from delete_events_numbered
