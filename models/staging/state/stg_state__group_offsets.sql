with

group_offsets as (

    select * from {{ source('state', 'group_offsets') }}

),

renamed as (

    select
        cluster_id,
        group_id,
        topic_name,
        partition_index,
        topic_id,
        metadata,
        committed_offset,
        leader_epoch,
        is_deleted,
        is_readable,
        deleted_by,
        commit_at_ms,
        expire_at_ms,
        deleted_at_ms,
        deleted_run_id,
        tombstone_at_ms,
        commit_log_offset,
        tombstone_log_offset,
        changed_in_run_id

    from group_offsets

)

select * from renamed
