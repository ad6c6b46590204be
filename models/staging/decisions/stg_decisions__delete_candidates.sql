with

delete_candidates as (

    select * from {{ source('decisions', 'delete_candidates') }}

),

renamed as (

    select
        cluster_id,
        segment_id,
        run_id,
        ruleset,
        settings_hash,
        decision,
        reason_code,
        previous_decision,
        previous_reason_code,
        changed_in_run_id,
        decided_at_ms,
        walk_position,
        is_over_deleted,
        topic_id,
        topic_name,
        partition_index,
        start_offset,
        end_offset,
        size_bytes,
        max_timestamp_ms,
        segment_state,
        lag_before,
        lag_after,
        next_due_at_ms

    from delete_candidates

)

select * from renamed
