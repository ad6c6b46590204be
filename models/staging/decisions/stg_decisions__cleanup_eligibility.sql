with

cleanup_eligibility as (

    select * from {{ source('decisions', 'cleanup_eligibility') }}

),

renamed as (

    select
        cluster_id,
        group_id,
        run_id,
        ruleset,
        settings_hash,
        decision,
        reason_code,
        previous_decision,
        previous_reason_code,
        changed_in_run_id,
        observed_epoch,
        decided_at_ms,
        next_due_at_ms

    from cleanup_eligibility

)

select * from renamed
