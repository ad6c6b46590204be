with

rejected_segment_events as (

    select * from {{ source('history', 'rejected_segment_events') }}

),

renamed as (

    select
        cluster_id,
        log_topic_name,
        log_partition_index,
        log_offset,
        segment_id,
        topic_id,
        topic_name,
        partition_index,
        from_state,
        to_state,
        event_at_ms,
        broker_id,
        rejection,
        run_id

    from rejected_segment_events

)

select * from renamed
