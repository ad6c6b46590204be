with

latest as (

    select * from {{ ref('stg_state__tier_lag') }}

    where is_measured

),

tier_lag as (

    select
        latest.cluster_id,
        latest.topic_id,
        latest.topic_name,
        latest.partition_index,
        latest.broker_id,
        {{ tier_lag_of('latest') }},
        {{ instant('latest.oldest_pending_upload_at_ms') }}
            as oldest_pending_upload_at,
        {{ instant('latest.oldest_pending_delete_at_ms') }}
            as oldest_pending_delete_at,
        latest.ruleset,
        latest.run_id,
        {{ instant('latest.measured_at_ms') }} as measured_at

    from latest

)

select * from tier_lag
