with

offset_translations as (

    select * from {{ source('decisions', 'offset_translations') }}

),

renamed as (

    select
        cluster_id,
        flow,
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
        decided_at_ms,
        target_topic_name,
        upstream_offset,
        translated_offset,
        lower_bound,
        upper_bound,
        reread_max,
        waiting_offset,
        syncs_incarnation,
        sync_log_offset,
        incarnation,
        parity_incarnation,
        is_anchored,
        metadata,
        commit_at_ms,
        observed_upstream_offset,
        observed_downstream_offset,
        observed_emitted_by,
        next_due_at_ms

    from offset_translations

)

select * from renamed
