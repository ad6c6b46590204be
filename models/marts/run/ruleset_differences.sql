with

compared as (

    select * from {{ ref('stg_state__ruleset_comparison') }}

),

ruleset_differences as (

    select
        domain,
        cluster_id,
        subject,
        ruleset_a,
        decision_a,
        reason_code_a,
        ruleset_b,
        decision_b,
        reason_code_b,
        timestamp_millis(decided_at_ms) as decided_at

    from compared

)

select * from ruleset_differences
