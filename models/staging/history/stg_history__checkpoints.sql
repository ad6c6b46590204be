with

checkpoints as (

    select * from {{ source('history', 'checkpoints') }}

),

renamed as (

    select
        flow,
        group_id,
        target_topic_name,
        partition_index,
        run_id,
        topic_name,
        upstream_offset,
        downstream_offset,
        metadata,
        incarnation,
        parity_incarnation,
        sync_log_offset,
        previous_upstream_offset,
        previous_downstream_offset,
        reason_code,
        ruleset,
        decided_at_ms,
        emitted_at_ms

    from checkpoints

)

select * from renamed
