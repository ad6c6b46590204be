with

tier_lag as (

    select * from {{ ref('stg_history__tier_lag') }}

),

latest_found as (

    select
        *,
        row_number() over (
            partition by cluster_id, topic_id, partition_index
            order by run_id desc
        ) as recency

    from tier_lag

),

tier_lag_latest as (

    select
        cluster_id,
        topic_id,
        partition_index,
        run_id,
        ruleset,
        topic_name,
        broker_id,
        measured_at_ms,
        is_measured,
        {{ tier_lag_of('latest_found') }}

    from latest_found

    where recency = 1

)

select * from tier_lag_latest
