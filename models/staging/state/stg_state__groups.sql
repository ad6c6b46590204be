with

groups as (

    select * from {{ source('state', 'groups') }}

),

renamed as (

    select
        cluster_id,
        group_id,
        offsets_partition_index,
        group_type,
        group_state,
        protocol_type,
        group_epoch,
        topology_epoch,
        stored_description_topology_epoch,
        failed_description_topology_epoch,
        member_count,
        subscribed_topics,
        is_deleted,
        is_readable,
        deleted_by,
        empty_since_at_ms,
        deleted_at_ms,
        deleted_run_id,
        next_due_at_ms,
        log_offset,
        tombstone_log_offset,
        last_commit_log_offset,
        changed_in_run_id,
        epochs_written_in_run_id,
        description_settled_in_run_id,
        stored_epoch_before_barrier,
        removed_log_offset

    from groups

)

select * from renamed
