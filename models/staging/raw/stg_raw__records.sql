with

records as (

    select * from {{ source('raw', 'records') }}

),

renamed as (

    select
        cluster_id,
        topic_name,
        partition_index,
        log_offset,
        recorded_at_ms,
        timestamp_type,
        record_key,
        record_value,
        headers,
        run_id

    from records

)

select * from renamed
