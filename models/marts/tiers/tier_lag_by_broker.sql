with

tier_lag as (

    select * from {{ ref('tier_lag') }}

    where broker_id is not null

),

tier_lag_by_broker as (

    select
        cluster_id,
        broker_id,
        {{ tier_lag_totals() }}

    from tier_lag

    group by
        cluster_id,
        broker_id

)

select * from tier_lag_by_broker
