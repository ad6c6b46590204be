with

partitions as (

    select * from {{ ref('int_tiers__gauges_due') }}

),

tasks as (

    select * from {{ ref('int_tiers__delete_tasks_found') }}

    where is_last

),

remote_segments as (

    select * from {{ ref('stg_state__remote_segments') }}

),

delete_candidates as (

    select * from {{ ref('int_tiers__delete_candidates_decided') }}

),

segments_joined as (

    select
        partitions.cluster_id,
        partitions.topic_id,
        partitions.partition_index,
        partitions.broker_id,
        partitions.topic_name,
        get(partitions.epochs, 0).leader_epoch as earliest_epoch,
        get(partitions.epochs, 0).start_offset as earliest_offset,
        transform(partitions.lineage, epoch -> epoch.leader_epoch)
            as lineage_epochs,
        partitions.task_interval_ms,
        tasks.run_number,
        coalesce(tasks.ends_unfinished, false) as is_open,
        remote_segments.segment_id,
        remote_segments.end_offset,
        remote_segments.size_bytes,
        remote_segments.leader_epochs,
        remote_segments.delete_started_log_offset,
        coalesce(
            remote_segments.segment_state <> 'DELETE_SEGMENT_FINISHED', false
        ) as is_live,
        coalesce(
            array_contains(tasks.segment_ids, remote_segments.segment_id), false
        ) as is_of_run,
        size(
            filter(
                tasks.deleted_segment_ids,
                segment_id -> segment_id = remote_segments.segment_id
            )
        ) as times_deleted,
        coalesce(
            remote_segments.delete_started_log_offset
            < tasks.started_log_offset,
            false
        ) as is_retried,
        {# how long the broker's list has held it since the run #}
        coalesce(remote_segments.delete_finished_at_ms, partitions.at_ms)
        - if(
            remote_segments.copy_started_at_ms < tasks.last_event_at_ms,
            tasks.last_event_at_ms,
            remote_segments.copy_started_at_ms
        ) as listed_ms

    from partitions

    left join tasks using (cluster_id, topic_id, partition_index)

    left join remote_segments using (cluster_id, topic_id, partition_index)

),

{# the task returns early, and writes nothing, when it lists no segment #}
segments_shown as (

    select
        cluster_id,
        topic_id,
        partition_index,
        segment_id,
        broker_id,
        topic_name,
        earliest_epoch,
        earliest_offset,
        lineage_epochs,
        end_offset,
        size_bytes,
        leader_epochs,
        delete_started_log_offset,
        is_live,
        is_of_run,
        greatest(times_deleted, 0) as times_deleted,
        is_retried,
        case
            when is_open then 'in_run'
            when
                max(listed_ms) over of_partition >= task_interval_ms
                then 'idle'
            when run_number is not null then 'after_run'
            else 'unwritten'
        end as shown,
        count_if(is_live) over of_partition as segments_live,
        coalesce(segment_id = max(segment_id) over of_partition, true)
            as is_for_partition

    from segments_joined

    window of_partition as (
        partition by
            cluster_id,
            topic_id,
            partition_index
    )

),

{# what an idle run has written over is past; each partition keeps a row #}
segments_kept as (

    select
        *,
        is_of_run and shown <> 'idle' as is_of_run_shown

    from segments_shown

    where
        is_live
        or (is_of_run and shown <> 'idle')
        or is_for_partition

),

delete_segments_gathered as (

    select
        segments_kept.cluster_id,
        segments_kept.topic_id,
        segments_kept.partition_index,
        segments_kept.segment_id,
        segments_kept.broker_id,
        segments_kept.topic_name,
        segments_kept.shown,
        segments_kept.segments_live,
        segments_kept.earliest_offset,
        segments_kept.end_offset,
        segments_kept.size_bytes,
        segments_kept.delete_started_log_offset,
        segments_kept.is_live,
        segments_kept.is_of_run_shown as is_of_run,
        if(segments_kept.is_of_run_shown, segments_kept.times_deleted, 0)
            as times_deleted,
        segments_kept.is_retried,
        greatest(size(segments_kept.leader_epochs), 0) as epochs,
        greatest(
            size(
                filter(
                    segments_kept.leader_epochs,
                    entry
                    -> entry.leader_epoch < segments_kept.earliest_epoch
                )
            ),
            0
        ) as earlier_epochs,
        greatest(
            size(
                filter(
                    segments_kept.leader_epochs,
                    entry -> array_contains(
                        segments_kept.lineage_epochs, entry.leader_epoch
                    )
                )
            ),
            0
        ) as lineage_epochs,
        coalesce(delete_candidates.decision = 'delete', false) as is_chosen,
        delete_candidates.reason_code,
        coalesce(
            delete_candidates.walk_position
            <= coalesce(
                min(
                    if(
                        {{ stops_walk('delete_candidates.reason_code') }},
                        delete_candidates.walk_position,
                        null
                    )
                ) over (
                    partition by
                        segments_kept.cluster_id,
                        segments_kept.topic_id,
                        segments_kept.partition_index
                ),
                delete_candidates.walk_position
            ),
            false
        ) as is_walked

    from segments_kept

    left join delete_candidates using (cluster_id, segment_id)

)

select * from delete_segments_gathered
