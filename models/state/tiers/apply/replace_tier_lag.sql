{{ config(
    tags='decide_tiers',
    unique_key=['cluster_id', 'topic_id', 'partition_index'],
    meta={'into': 'state.tier_lag', 'write_needs_open_run': false}
) }}

-- depends_on: {{ ref('int_tiers__decided') }}

with

measured as (

    select * from {{ ref('int_tiers__tier_lag_summed') }}

),

latest as (

    select * from {{ ref('stg_state__tier_lag') }}

),

tier_lag_changed as (

    select
        measured.cluster_id,
        measured.topic_id,
        measured.partition_index,
        measured.run_id,
        measured.ruleset,
        measured.topic_name,
        measured.broker_id,
        measured.measured_at_ms,
        measured.is_measured,
        {{ tier_lag_of('measured') }}

    from measured

    left join latest using (cluster_id, topic_id, partition_index)

    where
        (measured.is_measured or latest.is_measured)
        and not (
            {{ is_tier_lag_equal('measured', 'latest') }}
        )

)

select * from tier_lag_changed
