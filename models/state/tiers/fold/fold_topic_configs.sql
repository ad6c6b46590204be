{{ config(
    tags='fold_topic_configs',
    unique_key=['cluster_id', 'topic_id', 'valid_from_ms'],
    meta={'into': 'state.topic_configs'}
) }}

with

loaded as (

    select * from {{ ref('stg_run__topic_configs') }}

),

configs_loaded as (

    select
        cluster_id,
        topic_id,
        topic_name,
        configs,
        valid_from_ms,
        run_id

    from loaded

)

select * from configs_loaded
