with

ruleset_comparison as (

    select * from {{ source('state', 'ruleset_comparison') }}

),

renamed as (

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
        decided_at_ms

    from ruleset_comparison

)

select * from renamed
