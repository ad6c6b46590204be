with

topic_configs as (

    select * from {{ source('run', 'topic_configs') }}

),

renamed as (

    select
        cluster_id,
        topic_id,
        topic_name,
        configs,
        valid_from_ms,
        run_id

    from topic_configs

)

select * from renamed
