{{ config(materialized='run_list') }}

with

groups_due as (

    select * from {{ ref('int_groups__sweep_groups_due') }}

),

offset_expirations as (

    select * from {{ ref('int_groups__offset_expirations_reasoned') }}

),

offsets_due as (

    select
        offset_expirations.cluster_id,
        offset_expirations.group_id,
        offset_expirations.topic_name,
        offset_expirations.partition_index,
        offset_expirations.run_id,
        offset_expirations.ruleset,
        offset_expirations.settings_hash,
        offset_expirations.decision,
        offset_expirations.reason_code,
        offset_expirations.expiry_clock,
        offset_expirations.expires_at_ms,
        offset_expirations.observed_log_offset,
        offset_expirations.decided_at_ms

    from offset_expirations

    left semi join groups_due using (cluster_id, group_id)

)

select * from offsets_due
