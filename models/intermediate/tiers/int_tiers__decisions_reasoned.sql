with

upload_candidates as (

    select * from {{ ref('int_tiers__upload_candidates_reasoned') }}

),

delete_candidates as (

    select * from {{ ref('int_tiers__delete_candidates_reasoned') }}

),

decisions_reasoned as (

    select
        'tiers' as domain,
        cluster_id,
        {{ upload_subject() }} as subject,
        ruleset,
        decision,
        reason_code,
        decided_at_ms

    from upload_candidates

    union all

    select
        'tiers' as domain,
        cluster_id,
        {{ delete_subject() }} as subject,
        ruleset,
        decision,
        reason_code,
        decided_at_ms

    from delete_candidates

)

select * from decisions_reasoned
