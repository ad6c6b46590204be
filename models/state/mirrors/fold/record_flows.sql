{{ config(
    tags=['fold_offset_syncs', 'fold_checkpoints'],
    unique_key=['flow', 'valid_from_ms'],
    meta={
        'into': 'state.flows',
        'skips_no_rows': true,
        'matched_condition': 't.valid_to_ms is null',
        'update_set': {'valid_to_ms': 's.valid_to_ms'}
    }
) }}

-- depends_on: {{ ref('fold_mirrored_partitions') }}
-- depends_on: {{ ref('fold_checkpoints') }}

with

effective as (

    select * from {{ ref('stg_run__flows') }}

),

changed as (

    select flow

    from {{ ref('int_mirrors__flows_configured') }}

    where is_changed

),

in_force as (

    select * from {{ ref('stg_state__flows') }}

),

parameters as (

    select * from {{ ref('stg_run__parameters') }}

),

{# also a flow that is no longer configured #}
replaced as (

    select
        in_force.flow,
        in_force.source_cluster_id,
        in_force.target_cluster_id,
        in_force.ruleset,
        in_force.topics_pattern,
        in_force.topics_excluded_pattern,
        in_force.groups_pattern,
        in_force.groups_excluded_pattern,
        in_force.separator,
        in_force.syncs_cluster_id,
        in_force.syncs_topic_name,
        in_force.checkpoints_topic_name,
        in_force.keeps_topic_names,
        in_force.clamp_first,
        in_force.anchored,
        in_force.is_exactly_once,
        in_force.settings_hash,
        in_force.settings,
        in_force.valid_from_ms,
        greatest(parameters.started_at_ms, in_force.valid_from_ms + 1)
            as valid_to_ms,
        in_force.run_id

    from in_force

    cross join parameters

    left join effective
        on in_force.flow = effective.flow

    where not in_force.settings_hash <=> effective.settings_hash

),

introduced as (

    select
        effective.flow,
        effective.source_cluster_id,
        effective.target_cluster_id,
        effective.ruleset,
        effective.topics_pattern,
        effective.topics_excluded_pattern,
        effective.groups_pattern,
        effective.groups_excluded_pattern,
        effective.separator,
        effective.syncs_cluster_id,
        effective.syncs_topic_name,
        effective.checkpoints_topic_name,
        effective.keeps_topic_names,
        effective.clamp_first,
        effective.anchored,
        effective.is_exactly_once,
        effective.settings_hash,
        effective.settings,
        greatest(
            effective.valid_from_ms, coalesce(in_force.valid_from_ms + 1, 0)
        ) as valid_from_ms,
        effective.valid_to_ms,
        effective.run_id

    from effective

    left join in_force
        on effective.flow = in_force.flow

    left semi join changed
        on effective.flow = changed.flow

),

flows_changed as (

    select * from replaced

    union all

    select * from introduced

)

select * from flows_changed
