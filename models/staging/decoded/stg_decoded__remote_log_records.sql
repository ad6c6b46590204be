with

remote_log_records as (

    select * from {{ source('decoded', 'remote_log_records') }}

),

renamed as (

    select
        cluster_id,
        log_topic_name,
        log_partition_index,
        log_offset,
        recorded_at_ms,
        run_id,
        record_type,
        record_name,
        value_version,
        decode_status,
        is_tombstone,
        topic_name,
        topic_id,
        partition_index,
        segment_id,
        start_offset,
        end_offset,
        broker_id,
        max_timestamp_ms,
        event_at_ms,
        leader_epochs,
        size_bytes,
        custom_metadata,
        segment_state,
        partition_delete_state,
        txn_index_empty

    from remote_log_records

)

select * from renamed
