with

target_offset_writes as (

    select * from {{ source('decisions', 'target_offset_writes') }}

),

renamed as (

    select
        cluster_id,
        flow,
        group_id,
        target_topic_name,
        partition_index,
        run_id,
        ruleset,
        settings_hash,
        decision,
        reason_code,
        previous_decision,
        previous_reason_code,
        changed_in_run_id,
        decided_at_ms,
        from_offset,
        to_offset,
        next_due_at_ms

    from target_offset_writes

)

select * from renamed
