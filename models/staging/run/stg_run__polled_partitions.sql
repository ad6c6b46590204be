with

polled_partitions as (

    select * from {{ source('run', 'polled_partitions') }}

),

renamed as (

    select
        cluster_id,
        topic_name,
        partition_index,
        next_offset,
        log_start_offset,
        last_stable_offset,
        high_watermark,
        polled_at_ms

    from polled_partitions

)

select * from renamed
