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

cleanup_eligibility as (

    select * from {{ ref('int_groups__cleanup_eligibility_decided') }}

),

offset_expirations as (

    select * from {{ ref('int_groups__offset_expirations_decided') }}

),

group_sweeps as (

    select * from {{ ref('int_groups__group_sweeps_decided') }}

),

decisions as (

    select
        cluster_id,
        concat('cleanup ', group_id) as subject,
        run_id,
        {{ decision_change_columns() }}

    from cleanup_eligibility

    union all

    select
        cluster_id,
        concat('sweep ', group_id) as subject,
        run_id,
        {{ decision_change_columns() }}

    from group_sweeps

    union all

    select
        cluster_id,
        {{ offset_subject() }} as subject,
        run_id,
        {{ decision_change_columns() }}

    from offset_expirations

),

decisions_changed as (

    select
        'groups' as domain,
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

    {# one row of literals becomes a literal, by which Delta skips files #}
    where
        decisions.changed_in_run_id
        = (select parameters.run_id from parameters)

)

select * from decisions_changed
