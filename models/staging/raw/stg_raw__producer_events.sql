with

producer_events as (

    select * from {{ source('raw', 'producer_events') }}

),

renamed as (

    select
        cluster_id,
        at_ms,
        producer_id,
        topic_name,
        event,
        run_id

    from producer_events

)

select * from renamed
