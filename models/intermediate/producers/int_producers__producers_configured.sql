{{ config(materialized='run_list') }}

with

producers as (

    select * from {{ ref('stg_state__producers') }}

),

clusters as (

    select * from {{ ref('int_producers__clusters_configured') }}

),

producer_settings as (

    select * from {{ ref('stg_run__producer_settings') }}

),

rule_sets as (

    select * from {{ ref('rule_sets') }}

    where domain = 'producers'

),

producers_named as (

    select
        producers.*,
        coalesce(producer_settings.producer_id, 'default') as settings_id

    from producers

    left join producer_settings using (producer_id)

),

producers_configured as (

    select
        producers_named.cluster_id,
        producers_named.producer_id,
        clusters.run_id,
        clusters.run_kind,
        clusters.is_applied,
        rule_sets.ruleset,
        producer_settings.settings_hash,
        rule_sets.topics_requested,
        coalesce(producer_settings.target_factor, rule_sets.target_factor)
            as target_factor,
        coalesce(producer_settings.rule_mode, rule_sets.rule_mode) as rule_mode,
        coalesce(producer_settings.evict_strict, rule_sets.evict_strict)
            as evict_strict,
        rule_sets.idle_from,
        coalesce(producer_settings.pace_ms, rule_sets.pace_ms) as pace_ms,
        producer_settings.evict_ms,
        if(
            rule_sets.reads_max_idle,
            coalesce(producer_settings.max_idle_ms, producer_settings.evict_ms),
            producer_settings.evict_ms
        ) as idle_limit_ms,
        producer_settings.max_age_ms,
        producer_settings.retry_backoff_ms,
        producers_named.last_failure_at_ms,
        producers_named.last_non_urgent_at_ms,
        case
            when producers_named.closed_at_ms is not null then 'CLOSED'
            when producers_named.request_in_flight_since_ms is not null
                then 'REQUEST_IN_FLIGHT'
            when
                clusters.decided_at_ms - producers_named.last_failure_at_ms
                < producer_settings.retry_backoff_ms then 'BACKING_OFF'
        end as held_by,
        producers_named.changed_in_run_id,
        clusters.decided_at_ms

    from producers_named

    inner join clusters using (cluster_id)

    inner join producer_settings
        on producers_named.settings_id = producer_settings.producer_id

    inner join rule_sets
        on producer_settings.ruleset = rule_sets.ruleset

)

select * from producers_configured
