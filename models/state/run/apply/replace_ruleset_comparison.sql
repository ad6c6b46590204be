{{ config(
    meta={'into': 'state.ruleset_comparison', 'write': 'replace'}
) }}

with

side_a as (

    select * from {{ ref('stg_run__compared') }}

    where side = 'a'

),

side_b as (

    select * from {{ ref('stg_run__compared') }}

    where side = 'b'

),

ruleset_comparison as (

    select
        side_a.domain,
        side_a.cluster_id,
        side_a.subject,
        side_a.ruleset as ruleset_a,
        side_a.decision as decision_a,
        side_a.reason_code as reason_code_a,
        side_b.ruleset as ruleset_b,
        side_b.decision as decision_b,
        side_b.reason_code as reason_code_b,
        side_a.decided_at_ms

    from side_a

    inner join side_b using (domain, cluster_id, subject)

    where
        side_a.decision <> side_b.decision
        or side_a.reason_code <> side_b.reason_code

)

select * from ruleset_comparison
