-- depends_on: {{ ref('int_run__applied') }}

with

cleanup_eligibility as (

    select * from {{ ref('int_groups__cleanup_eligibility_decided') }}

),

offset_expirations as (

    select * from {{ ref('int_groups__offset_expirations_decided') }}

),

group_sweeps as (

    select * from {{ ref('int_groups__group_sweeps_decided') }}

),

reasons as (

    select * from {{ ref('reason_codes') }}

),

decisions_gathered as (

    select
        cluster_id,
        group_id,
        'cleanup_eligibility' as decision_table,
        concat('cleanup ', group_id) as subject,
        run_id,
        {{ decision_change_columns() }}

    from cleanup_eligibility

    union all

    select
        cluster_id,
        group_id,
        'group_sweeps' as decision_table,
        concat('sweep ', group_id) as subject,
        run_id,
        {{ decision_change_columns() }}

    from group_sweeps

    union all

    select
        cluster_id,
        group_id,
        'offset_expirations' as decision_table,
        {{ offset_subject() }} as subject,
        run_id,
        {{ decision_change_columns() }}

    from offset_expirations

),

decisions as (

    select
        'groups' as domain,
        decisions_gathered.cluster_id,
        decisions_gathered.subject,
        decisions_gathered.decision_table,
        decisions_gathered.group_id,
        decisions_gathered.decision,
        decisions_gathered.reason_code,
        reasons.reason_text,
        decisions_gathered.previous_decision,
        decisions_gathered.previous_reason_code,
        decisions_gathered.ruleset,
        decisions_gathered.run_id,
        decisions_gathered.changed_in_run_id,
        timestamp_millis(decisions_gathered.decided_at_ms) as decided_at

    from decisions_gathered

    left join reasons
        on
            reasons.domain = 'groups'
            and decisions_gathered.decision_table = reasons.decision_table
            and decisions_gathered.reason_code = reasons.reason_code

)

select * from decisions
