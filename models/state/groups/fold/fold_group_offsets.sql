{{ config(
    tags='fold_consumer_offsets',
    unique_key=['cluster_id', 'group_id', 'topic_name', 'partition_index'],
    meta={
        'into': 'state.group_offsets',
        'matched_condition': 
            's.commit_log_offset > t.commit_log_offset'
            ~ ' or s.tombstone_log_offset > t.tombstone_log_offset',
        'update_set': folded_offset_columns()
    }
) }}

with

records as (

    select * from {{ ref('stg_run__records') }}

    where group_id is not null and record_type in (0, 1)

),

latest_by_key as (

    select
        cluster_id,
        group_id,
        committed_topic_name as topic_name,
        committed_partition_index as partition_index,
        max_by(
            struct(
                topic_id,
                metadata,
                committed_offset,
                nullif(leader_epoch, -1) as leader_epoch,
                decode_status in ('ok', 'ok_trailing') as is_readable,
                commit_at_ms,
                expire_at_ms,
                log_offset as commit_log_offset
            ),
            log_offset
        ) filter (where not is_tombstone) as latest_commit,
        max_by(
            struct(
                recorded_at_ms as deleted_at_ms,
                log_offset as tombstone_log_offset
            ),
            log_offset
        ) filter (where is_tombstone) as latest_tombstone,
        max(run_id) as run_id

    from records

    group by
        cluster_id,
        group_id,
        committed_topic_name,
        committed_partition_index

),

positions_compared as (

    select
        *,
        coalesce(latest_commit.commit_log_offset, -1) as commit_log_offset,
        coalesce(latest_tombstone.tombstone_log_offset, -1)
            as tombstone_log_offset

    from latest_by_key

),

group_offsets as (

    select
        cluster_id,
        group_id,
        topic_name,
        partition_index,
        latest_commit.topic_id,
        latest_commit.metadata,
        latest_commit.committed_offset,
        latest_commit.leader_epoch,
        tombstone_log_offset > commit_log_offset as is_deleted,
        coalesce(latest_commit.is_readable, true) as is_readable,
        if(tombstone_log_offset > commit_log_offset, 'broker', null)
            as deleted_by,
        latest_commit.commit_at_ms,
        latest_commit.expire_at_ms,
        if(
            tombstone_log_offset > commit_log_offset,
            latest_tombstone.deleted_at_ms,
            null
        ) as deleted_at_ms,
        cast(null as string) as deleted_run_id,
        latest_tombstone.deleted_at_ms as tombstone_at_ms,
        commit_log_offset,
        tombstone_log_offset,
        run_id as changed_in_run_id

    from positions_compared

)

select * from group_offsets
