{{ config(
    into='state.topic_configs',
    unique_key=['cluster_id', 'topic_id', 'valid_from_ms']
) }}

with

loaded as (

    select * from {{ ref('stg_run__topic_configs') }}

)

select * from loaded
