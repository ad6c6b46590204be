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

    where domain = 'groups'

),

clusters_configured as (

    select
        settings.cluster_id,
        parameters.run_id,
        parameters.kind as run_kind,
        rule_sets.ruleset,
        rule_sets.offsets_condition,
        rule_sets.uses_uncertain_epoch,
        rule_sets.tells_plugin_messages,
        rule_sets.arms_on_any_failure,
        rule_sets.drops_backoffs_on_unload,
        rule_sets.clears_backoff_of_failed_delete,
        settings.settings_hash,
        settings.offsets_retention_ms,
        settings.authority,
        settings.has_plugin,
        settings.authority = 'moldau'
        and parameters.is_open
        and not parameters.is_dry_run as is_applied,
        parameters.at_ms as decided_at_ms

    from settings

    cross join parameters

    inner join rule_sets
        on settings.rulesets['groups'] = rule_sets.ruleset

    where
        parameters.cluster_ids is null
        or array_contains(parameters.cluster_ids, settings.cluster_id)

)

select * from clusters_configured
