with

checkpoints as (

    select * from {{ source('decoded', 'checkpoints') }}

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
        group_id,
        topic_name,
        partition_index,
        upstream_offset,
        downstream_offset,
        metadata

    from checkpoints

)

select * from renamed
