with

mirrored_partitions as (

    select * from {{ source('state', 'mirrored_partitions') }}

),

renamed as (

    select
        flow,
        topic_name,
        partition_index,
        syncs_incarnation,
        sync_log_offset,
        upstream_offset,
        downstream_offset,
        recorded_at_ms,
        incarnation,
        parity_incarnation,
        segment_index,
        old_head,
        tail,
        caught_up_offset,
        is_admitted,
        has_surplus,
        commits_valid_from_ms,
        parity_commits_valid_from_ms,
        segment_first_sync_log_offset,
        first_sync_log_offset,
        first_downstream_offset,
        parity_first_sync_log_offset,
        parity_first_downstream_offset,
        topic_recreated_at_ms,
        changed_in_run_id

    from mirrored_partitions

)

select * from renamed
