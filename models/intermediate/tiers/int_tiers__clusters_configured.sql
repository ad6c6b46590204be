{{ config(materialized='run_list', meta={'as_literals': true}) }}

with

settings as (

    select * from {{ ref('stg_run__settings') }}

),

parameters as (

    select * from {{ ref('stg_run__parameters') }}

),

rule_sets as (

    select * from {{ ref('rule_sets') }}

    where domain = 'tiers'

),

clusters_configured as (

    select
        settings.cluster_id,
        parameters.run_id,
        parameters.kind as run_kind,
        rule_sets.ruleset,
        rule_sets.breaches_at_boundary,
        rule_sets.delays_upload,
        settings.settings_hash,
        {{ task_interval_ms('settings.settings') }} as task_interval_ms,
        parameters.at_ms as decided_at_ms

    from settings

    cross join parameters

    inner join rule_sets
        on settings.rulesets['tiers'] = rule_sets.ruleset

    where
        parameters.cluster_ids is null
        or array_contains(parameters.cluster_ids, settings.cluster_id)

)

select * from clusters_configured
