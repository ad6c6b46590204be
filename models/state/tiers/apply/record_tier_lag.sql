{{ config(
    tags='decide_tiers',
    meta={
        'into': 'history.tier_lag',
        'write': 'append',
        'skips_no_rows': true,
        'write_needs_open_run': false
    }
) }}

-- depends_on: {{ ref('int_tiers__decided') }}
-- depends_on: {{ ref('replace_tier_lag') }}

with

tier_lag as (

    select * from {{ ref('stg_state__tier_lag') }}

),

runs as (

    select * from {{ ref('stg_state__runs') }}

),

{# what a run that was killed measured, or a plain dbt run, is recorded by the next one #}
last_measured as (

    select coalesce(max(run_id), '') as run_id

    from runs

    where
        kind = 'tiers'
        and status = 'succeeded'

),

recorded as (

    select
        cluster_id,
        topic_id,
        partition_index,
        run_id

    from {{ ref('stg_history__tier_lag') }}

    where run_id > (select last_measured.run_id from last_measured)

),

measured_since as (

    select * from tier_lag

    where run_id > (select last_measured.run_id from last_measured)

),

tier_lag_unrecorded as (

    select
        measured_since.cluster_id,
        measured_since.topic_id,
        measured_since.partition_index,
        measured_since.run_id,
        measured_since.ruleset,
        measured_since.topic_name,
        measured_since.broker_id,
        measured_since.measured_at_ms,
        measured_since.is_measured,
        {{ tier_lag_of('measured_since') }}

    from measured_since

    left anti join recorded using (cluster_id, topic_id, partition_index, run_id)

)

select * from tier_lag_unrecorded
