with

checkpoints as (

    select * from {{ source('state', 'checkpoints') }}

),

renamed as (

    select
        flow,
        group_id,
        target_topic_name,
        partition_index,
        topic_name,
        upstream_offset,
        downstream_offset,
        metadata,
        incarnation,
        parity_incarnation,
        syncs_incarnation,
        sync_log_offset,
        previous_upstream_offset,
        previous_downstream_offset,
        emitted_by,
        log_offset,
        is_readable,
        emitted_at_ms,
        changed_in_run_id

    from checkpoints

)

select * from renamed
