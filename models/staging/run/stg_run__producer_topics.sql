with

producer_topics as (

    select * from {{ source('run', 'producer_topics') }}

),

renamed as (

    select
        cluster_id,
        producer_id,
        topic_name,
        last_access_at_ms,
        last_refresh_at_ms,
        has_demand,
        notified_at_ms,
        partition_count,
        taken_at_ms,
        run_id

    from producer_topics

)

select * from renamed
