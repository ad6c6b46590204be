with

offset_expirations as (

    select * from {{ source('decisions', 'offset_expirations') }}

),

renamed as (

    select
        cluster_id,
        group_id,
        topic_name,
        partition_index,
        run_id,
        ruleset,
        settings_hash,
        decision,
        reason_code,
        previous_decision,
        previous_reason_code,
        changed_in_run_id,
        expiry_clock,
        decided_at_ms,
        expires_at_ms,
        observed_log_offset

    from offset_expirations

)

select * from renamed
