with

segments_indexed as (

    select * from {{ ref('int_tiers__segments_indexed') }}

),

{# when a later segment moved it aside, and when one overwrote it #}
successors_found as (

    select
        older.cluster_id,
        older.segment_id,
        older.leader_epoch,
        min(
            if(
                coalesce(newer.highest_before <= newer.epoch.last_offset, true),
                newer.finished_log_offset,
                null
            )
        ) as moved_log_offset,
        min(
            if(
                newer.highest_before > newer.epoch.last_offset
                and newer.epoch.start_offset = older.epoch.start_offset,
                newer.finished_log_offset,
                null
            )
        ) as overwritten_log_offset,
        min(
            if(
                older.segment_state = 'COPY_SEGMENT_FINISHED',
                null,
                older.delete_started_log_offset
            )
        ) as marked_log_offset

    from segments_indexed as older

    inner join segments_indexed as newer
        on
            older.cluster_id = newer.cluster_id
            and older.topic_id = newer.topic_id
            and older.partition_index = newer.partition_index
            and older.leader_epoch = newer.leader_epoch
            and older.finished_log_offset < newer.finished_log_offset
            and older.epoch.start_offset >= newer.epoch.start_offset

    where older.segments_at_key > 1

    group by
        older.cluster_id,
        older.segment_id,
        older.leader_epoch

),

segments_superseded as (

    select
        cluster_id,
        segment_id,
        leader_epoch,
        coalesce(
            marked_log_offset is null
            and overwritten_log_offset < coalesce(
                moved_log_offset, overwritten_log_offset + 1
            ),
            false
        ) as is_orphaned

    from successors_found

    where
        moved_log_offset is not null
        or overwritten_log_offset is not null

)

select * from segments_superseded
