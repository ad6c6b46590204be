{{ config(
    into='history.decision_changes',
    write='append',
    write_needs_open_run=false
) }}

-- depends_on: {{ ref('int_run__decided') }}

with

parameters as (

    select * from {{ ref('stg_run__parameters') }}

),

decisions as (

    select * from {{ ref('int_groups__decisions_gathered') }}

),

{# a run that was killed half-way is finished under its own id #}
recorded as (

    select * from {{ ref('stg_history__decision_changes') }}

),

decisions_changed as (

    select
        decisions.domain,
        decisions.cluster_id,
        decisions.subject,
        decisions.changed_in_run_id as run_id,
        decisions.decision,
        decisions.reason_code,
        decisions.previous_decision,
        decisions.previous_reason_code,
        decisions.ruleset,
        decisions.decided_at_ms

    from decisions

    left anti join recorded
        on
            decisions.domain = recorded.domain
            and decisions.cluster_id = recorded.cluster_id
            and decisions.subject = recorded.subject
            and decisions.changed_in_run_id = recorded.run_id

    {# one row of literals becomes a literal, by which Delta skips files #}
    where
        decisions.changed_in_run_id
        = (select parameters.run_id from parameters)

)

select * from decisions_changed
