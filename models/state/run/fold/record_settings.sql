{{ config(
    unique_key=['cluster_id', 'valid_from_ms'],
    meta={
        'into': 'state.settings',
        'matched_condition': 't.valid_to_ms is null',
        'update_set': {'valid_to_ms': 's.valid_to_ms'}
    }
) }}

with

effective as (

    select * from {{ ref('stg_run__settings') }}

),

in_force as (

    select * from {{ ref('stg_state__settings') }}

),

replaced as (

    select
        in_force.cluster_id,
        in_force.authority,
        in_force.rulesets,
        in_force.has_plugin,
        in_force.plugin_name,
        in_force.offsets_retention_ms,
        in_force.check_interval_ms,
        in_force.settings_hash,
        in_force.settings,
        in_force.valid_from_ms,
        greatest(effective.valid_from_ms, in_force.valid_from_ms + 1)
            as valid_to_ms,
        in_force.run_id

    from in_force

    inner join effective using (cluster_id)

    where in_force.settings_hash <> effective.settings_hash

),

introduced as (

    select
        effective.cluster_id,
        effective.authority,
        effective.rulesets,
        effective.has_plugin,
        effective.plugin_name,
        effective.offsets_retention_ms,
        effective.check_interval_ms,
        effective.settings_hash,
        effective.settings,
        greatest(
            effective.valid_from_ms, coalesce(in_force.valid_from_ms + 1, 0)
        ) as valid_from_ms,
        cast(null as bigint) as valid_to_ms,
        effective.run_id

    from effective

    left join in_force using (cluster_id)

    where not effective.settings_hash <=> in_force.settings_hash

),

settings_changed as (

    select * from replaced

    union all

    select * from introduced

)

select * from settings_changed
