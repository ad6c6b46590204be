with

share_group_records as (

    select * from {{ source('decoded', 'share_group_records') }}

),

renamed as (

    select
        cluster_id,
        log_partition_index,
        log_offset,
        recorded_at_ms,
        run_id,
        record_type,
        record_name,
        value_version,
        decode_status,
        is_tombstone,
        group_id,
        topic_id,
        partition_index,
        snapshot_epoch,
        state_epoch,
        leader_epoch,
        start_offset,
        delivery_complete_count

    from share_group_records

)

select * from renamed
