{{ config(
    schema='decisions',
    alias='offset_expirations',
    materialized='merge_into',
    unique_key=['cluster_id', 'group_id', 'topic_name', 'partition_index'],
    delete_when='s.is_gone',
    insert_when='not s.is_gone'
) }}

-- depends_on: {{ ref('int_run__folded') }}

with

groups_due as (

    select distinct
        cluster_id,
        group_id

    from {{ ref('int_groups__sweep_groups_due') }}

),

reasoned as (

    select all_reasoned.*

    from {{ ref('int_groups__offset_expirations_reasoned') }} as all_reasoned

    left semi join groups_due
        on
            all_reasoned.cluster_id = groups_due.cluster_id
            and all_reasoned.group_id = groups_due.group_id

),

decided as (

    select last_decided.*

    from {{ ref('stg_decisions__offset_expirations') }} as last_decided

    left semi join groups_due
        on
            last_decided.cluster_id = groups_due.cluster_id
            and last_decided.group_id = groups_due.group_id

),

changes_told as (

    select
        coalesce(reasoned.cluster_id, decided.cluster_id) as cluster_id,
        coalesce(reasoned.group_id, decided.group_id) as group_id,
        coalesce(reasoned.topic_name, decided.topic_name) as topic_name,
        coalesce(reasoned.partition_index, decided.partition_index)
            as partition_index,
        reasoned.run_id,
        reasoned.ruleset,
        reasoned.settings_hash,
        reasoned.decision,
        reasoned.reason_code,
        {{ previous_decision('reasoned', 'decided') }}
            as previous_decision,
        {{ previous_reason_code('reasoned', 'decided') }}
            as previous_reason_code,
        {{ changed_in_run_id('reasoned', 'decided') }}
            as changed_in_run_id,
        reasoned.expiry_clock,
        reasoned.group_id is null as is_gone,
        reasoned.decided_at_ms,
        reasoned.expires_at_ms

    from reasoned

    full outer join decided
        on
            reasoned.cluster_id = decided.cluster_id
            and reasoned.group_id = decided.group_id
            and reasoned.topic_name = decided.topic_name
            and reasoned.partition_index = decided.partition_index

)

select * from changes_told
