{{ config(
    into='state.runs',
    write='append'
) }}

{# the run's row is written after everything that it vouches for #}
-- depends_on: {{ ref('int_run__decided') }}
-- depends_on: {{ ref('record_group_decision_changes') }}
-- depends_on: {{ ref('record_tier_lag') }}
-- depends_on: {{ ref('record_tier_decision_changes') }}
-- depends_on: {{ ref('record_epoch_clears') }}
-- depends_on: {{ ref('record_tombstones') }}
-- depends_on: {{ ref('replace_ruleset_comparison') }}

with

finished as (

    select
        run_id,
        kind,
        cluster_ids,
        status,
        is_dry_run,
        decided_at_ms,
        started_at_ms,
        finished_at_ms,
        counts

    from {{ ref('stg_run__finished') }}

)

select * from finished
