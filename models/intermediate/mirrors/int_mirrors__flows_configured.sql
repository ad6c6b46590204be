{{ config(materialized='run_list', meta={'as_literals': true}) }}

with

flows as (

    select * from {{ ref('stg_run__flows') }}

),

recorded as (

    select * from {{ ref('stg_state__flows') }}

),

parameters as (

    select * from {{ ref('stg_run__parameters') }}

),

rule_sets as (

    select * from {{ ref('rule_sets') }}

    where domain = 'mirrors'

),

flows_configured as (

    select
        flows.flow,
        flows.source_cluster_id,
        flows.target_cluster_id,
        flows.topics_pattern,
        flows.topics_excluded_pattern,
        flows.groups_pattern,
        flows.groups_excluded_pattern,
        flows.separator,
        flows.syncs_cluster_id,
        flows.syncs_topic_name,
        flows.checkpoints_topic_name,
        parameters.run_id,
        parameters.kind as run_kind,
        rule_sets.ruleset,
        rule_sets.syncs_used,
        flows.settings_hash,
        flows.keeps_topic_names,
        flows.clamp_first,
        flows.anchored,
        flows.is_exactly_once,
        rule_sets.resets_at_rewind,
        rule_sets.waits_for_replays,
        rule_sets.knows_incarnations,
        rule_sets.reads_checkpoints,
        parameters.cluster_ids is null
        or array_contains(parameters.cluster_ids, flows.source_cluster_id)
        or array_contains(parameters.cluster_ids, flows.target_cluster_id)
            as is_in_scope,
        not recorded.settings_hash <=> flows.settings_hash as is_changed,
        coalesce(
            recorded.source_cluster_id <> flows.source_cluster_id
            or recorded.target_cluster_id <> flows.target_cluster_id
            or recorded.syncs_cluster_id <> flows.syncs_cluster_id
            or recorded.syncs_topic_name <> flows.syncs_topic_name
            or recorded.checkpoints_topic_name <> flows.checkpoints_topic_name
            or recorded.separator <> flows.separator
            or recorded.keeps_topic_names <> flows.keeps_topic_names
            or recorded.is_exactly_once <> flows.is_exactly_once,
            true
        ) as is_refolded,
        coalesce(
            recorded.source_cluster_id <> flows.source_cluster_id
            or recorded.target_cluster_id <> flows.target_cluster_id
            or recorded.separator <> flows.separator
            or recorded.keeps_topic_names <> flows.keeps_topic_names,
            false
        ) as is_another,
        parameters.at_ms as decided_at_ms

    from flows

    cross join parameters

    inner join rule_sets using (ruleset)

    left join recorded
        on flows.flow = recorded.flow

)

select * from flows_configured
