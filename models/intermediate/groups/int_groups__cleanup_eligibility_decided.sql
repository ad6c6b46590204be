{{ config(
    schema='decisions',
    alias='cleanup_eligibility',
    materialized='merge_into',
    unique_key=['cluster_id', 'group_id'],
    delete_when='s.is_gone',
    insert_when='not s.is_gone'
) }}

-- depends_on: {{ ref('int_run__folded') }}

with

reasoned as (

    select * from {{ ref('int_groups__cleanup_eligibility_reasoned') }}

),

groups_due as (

    select distinct
        cluster_id,
        group_id

    from {{ ref('int_groups__cleanup_groups_due') }}

),

decided as (

    select last_decided.*

    from {{ ref('stg_decisions__cleanup_eligibility') }} as last_decided

    left semi join groups_due
        on
            last_decided.cluster_id = groups_due.cluster_id
            and last_decided.group_id = groups_due.group_id

),

changes_told as (

    select
        coalesce(reasoned.cluster_id, decided.cluster_id) as cluster_id,
        coalesce(reasoned.group_id, decided.group_id) as group_id,
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
        reasoned.observed_epoch,
        reasoned.group_id is null as is_gone,
        reasoned.decided_at_ms,
        reasoned.next_due_at_ms

    from reasoned

    full outer join decided
        on
            reasoned.cluster_id = decided.cluster_id
            and reasoned.group_id = decided.group_id

)

select * from changes_told
