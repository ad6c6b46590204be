with

offset_syncs as (

    select * from {{ source('decoded', 'offset_syncs') }}

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
        partition_index,
        upstream_offset,
        downstream_offset

    from offset_syncs

)

select * from renamed
