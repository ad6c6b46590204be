with

tier_lag as (

    select * from {{ ref('tier_lag') }}

),

tier_lag_by_cluster as (

    select
        cluster_id,
        {{ tier_lag_totals() }}

    from tier_lag

    group by cluster_id

)

select * from tier_lag_by_cluster
