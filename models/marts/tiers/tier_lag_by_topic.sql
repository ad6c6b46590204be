with

tier_lag as (

    select * from {{ ref('tier_lag') }}

    where topic_name is not null

),

tier_lag_by_topic as (

    select
        cluster_id,
        topic_name,
        {{ tier_lag_totals() }}

    from tier_lag

    group by
        cluster_id,
        topic_name

)

select * from tier_lag_by_topic
