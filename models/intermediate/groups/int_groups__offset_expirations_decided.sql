{{ config(
    tags='decide_sweep',
    schema='decisions',
    alias='offset_expirations',
    materialized='merge_into',
    unique_key=['cluster_id', 'group_id', 'topic_name', 'partition_index'],
    meta={
        'works_on': 'int_groups__sweep_groups_due',
        'matched_condition': differs(['ruleset', 'settings_hash', 'decision', 'reason_code', 'expiry_clock', 'expires_at_ms', 'observed_log_offset'])
            ~ ' or t.decided_at_ms > s.decided_at_ms',
        'delete_when': 's.is_gone',
        'insert_when': 'not s.is_gone'
    }
) }}

-- depends_on: {{ ref('int_groups__folded') }}

with

due as (

    select distinct
        cluster_id,
        group_id

    from {{ ref('int_groups__sweep_groups_due') }}

),

reasoned as (

    select * from {{ ref('int_groups__sweep_offsets_due') }}

),

all_decided as (

    select * from {{ ref('stg_decisions__offset_expirations') }}

),

{{ changes_found(
    due='due',
    reasoned='reasoned',
    stored='all_decided',
    key=['cluster_id', 'group_id', 'topic_name', 'partition_index'],
    own_columns=['expiry_clock', 'expires_at_ms', 'observed_log_offset'],
    due_by=['cluster_id', 'group_id']
) }}

select * from changes_found
