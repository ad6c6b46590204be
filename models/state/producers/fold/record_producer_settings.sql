{{ config(
    tags=['fold_producer_topics', 'fold_producer_events'],
    unique_key=['producer_id', 'valid_from_ms'],
    meta={
        'into': 'state.producer_settings',
        'matched_condition': 't.valid_to_ms is null',
        'update_set': {'valid_to_ms': 's.valid_to_ms'}
    }
) }}

with

effective as (

    select * from {{ ref('stg_run__producer_settings') }}

),

in_force as (

    select * from {{ ref('stg_state__producer_settings') }}

),

parameters as (

    select * from {{ ref('stg_run__parameters') }}

),

{# also of a producer that is no longer named #}
replaced as (

    select
        in_force.producer_id,
        in_force.ruleset,
        in_force.evict_ms,
        in_force.max_idle_ms,
        in_force.max_age_ms,
        in_force.retry_backoff_ms,
        in_force.target_factor,
        in_force.rule_mode,
        in_force.evict_strict,
        in_force.pace_ms,
        in_force.cached_topics_budget,
        in_force.blocking_fetches_budget,
        in_force.settings_hash,
        in_force.settings,
        in_force.valid_from_ms,
        greatest(parameters.started_at_ms, in_force.valid_from_ms + 1)
            as valid_to_ms,
        in_force.run_id

    from in_force

    cross join parameters

    left join effective
        on in_force.producer_id = effective.producer_id

    where not in_force.settings_hash <=> effective.settings_hash

),

introduced as (

    select
        effective.producer_id,
        effective.ruleset,
        effective.evict_ms,
        effective.max_idle_ms,
        effective.max_age_ms,
        effective.retry_backoff_ms,
        effective.target_factor,
        effective.rule_mode,
        effective.evict_strict,
        effective.pace_ms,
        effective.cached_topics_budget,
        effective.blocking_fetches_budget,
        effective.settings_hash,
        effective.settings,
        greatest(
            effective.valid_from_ms, coalesce(in_force.valid_from_ms + 1, 0)
        ) as valid_from_ms,
        effective.valid_to_ms,
        effective.run_id

    from effective

    left join in_force
        on effective.producer_id = in_force.producer_id

    where not effective.settings_hash <=> in_force.settings_hash

),

settings_changed as (

    select * from replaced

    union all

    select * from introduced

)

select * from settings_changed
