with

of_groups as (

    select * from {{ ref('int_groups__decisions_gathered') }}

),

of_requests as (

    select * from {{ ref('int_groups__request_decisions_gathered') }}

),

of_tiers as (

    select * from {{ ref('int_tiers__decisions_gathered') }}

),

of_mirrors as (

    select * from {{ ref('int_mirrors__decisions_gathered') }}

),

of_producers as (

    select * from {{ ref('int_producers__decisions_gathered') }}

),

reasons as (

    select * from {{ ref('reason_codes') }}

),

decisions_gathered as (

    select
        domain,
        cluster_id,
        subject,
        decision_table,
        group_id,
        {{ gathered_columns() }}

    from of_groups

    union all

    select
        domain,
        cluster_id,
        subject,
        decision_table,
        group_id,
        {{ gathered_columns() }}

    from of_requests

    union all

    select
        domain,
        cluster_id,
        subject,
        decision_table,
        cast(null as string) as group_id,
        {{ gathered_columns() }}

    from of_tiers

    union all

    select
        domain,
        cluster_id,
        subject,
        decision_table,
        group_id,
        {{ gathered_columns() }}

    from of_mirrors

    union all

    select
        domain,
        cluster_id,
        subject,
        decision_table,
        cast(null as string) as group_id,
        {{ gathered_columns() }}

    from of_producers

),

decisions as (

    select
        decisions_gathered.domain,
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
            decisions_gathered.domain = reasons.domain
            and decisions_gathered.decision_table = reasons.decision_table
            and decisions_gathered.reason_code = reasons.reason_code

)

select * from decisions
