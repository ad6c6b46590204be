with

remote_segments as (

    select * from {{ source('state', 'remote_segments') }}

),

renamed as (

    select
        cluster_id,
        segment_id,
        topic_id,
        topic_name,
        partition_index,
        start_offset,
        end_offset,
        segment_state,
        size_bytes,
        max_timestamp_ms,
        leader_epochs,
        broker_id,
        started_broker_id,
        event_at_ms,
        copy_started_at_ms,
        copy_finished_at_ms,
        delete_started_at_ms,
        delete_finished_at_ms,
        custom_metadata,
        log_topic_name,
        log_partition_index,
        log_offset,
        finished_log_offset,
        delete_started_log_offset,
        events,
        changed_in_run_id

    from remote_segments

)

select * from renamed
