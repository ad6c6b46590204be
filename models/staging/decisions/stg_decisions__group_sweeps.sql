with

group_sweeps as (

    select * from {{ source('decisions', 'group_sweeps') }}

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
        offsets_to_expire,
        offsets_left,
        decided_at_ms,
        next_due_at_ms

    from group_sweeps

)

select * from renamed
