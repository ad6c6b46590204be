with

log_positions as (

    select * from {{ source('state', 'log_positions') }}

),

renamed as (

    select
        cluster_id,
        topic_name,
        partition_index,
        topic_id,
        next_offset,
        log_start_offset,
        last_stable_offset,
        high_watermark,
        polled_at_ms,
        run_id

    from log_positions

)

select * from renamed
