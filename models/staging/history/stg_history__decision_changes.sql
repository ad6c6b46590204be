with

decision_changes as (

    select * from {{ source('history', 'decision_changes') }}

),

renamed as (

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

    from decision_changes

)

select * from renamed
