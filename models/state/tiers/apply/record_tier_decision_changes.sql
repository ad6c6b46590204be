{{ config(
    into='history.decision_changes',
    write='append',
    write_needs_open_run=false
) }}

-- depends_on: {{ ref('int_run__decided') }}

with

decisions_unrecorded as (

    select * from {{ ref('int_tiers__decisions_unrecorded') }}

),

decisions_changed as (

    select
        domain,
        cluster_id,
        subject,
        run_id,
        decision,
        reason_code,
        previous_decision,
        previous_reason_code,
        ruleset,
        decided_at_ms

    from decisions_unrecorded

)

select * from decisions_changed
