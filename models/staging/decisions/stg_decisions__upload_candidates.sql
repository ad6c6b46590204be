with

upload_candidates as (

    select * from {{ source('decisions', 'upload_candidates') }}

),

renamed as (

    select
        cluster_id,
        topic_id,
        partition_index,
        broker_id,
        base_offset,
        run_id,
        ruleset,
        settings_hash,
        decision,
        reason_code,
        previous_decision,
        previous_reason_code,
        changed_in_run_id,
        decided_at_ms,
        topic_name,
        size_bytes,
        next_base_offset,
        max_timestamp_ms,
        lag_before,
        lag_after,
        next_due_at_ms

    from upload_candidates

)

select * from renamed
