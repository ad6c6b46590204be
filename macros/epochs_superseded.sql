{# Finished segments whose place in the index of an epoch a later one took. A segment that reaches as far as all before it
   moves aside what starts where it starts or later: that is listed as unreferenced. One that ends earlier overwrites what
   starts at the same offset: that is listed nowhere any more. Deleting does not undo either.
   Kafka: RemoteLogLeaderEpochState.handleSegmentWithCopySegmentFinishedState. #}
{% macro epochs_superseded(segments) %}
epochs_finished as (

    select
        cluster_id,
        segment_id,
        topic_id,
        partition_index,
        segment_state,
        finished_log_offset,
        copy_finished_at_ms,
        inline({{ offsets_by_epoch(segments) }})

    from {{ segments }}

    where finished_log_offset is not null

),

earlier_known as (

    select
        *,
        max(start_offset) over earlier_in_epoch as furthest_start_offset,
        coalesce(last_offset >= max(last_offset) over earlier_in_epoch, true) as is_furthest

    from epochs_finished

    window
        earlier_in_epoch as (
            partition by cluster_id, topic_id, partition_index, leader_epoch
            order by finished_log_offset asc
            rows between unbounded preceding and 1 preceding
        )

),

{# few: segments come in order #}
stepping_back as (

    select * from earlier_known

    where start_offset <= furthest_start_offset

),

successors_found as (

    {# Spark would send all segments to each worker, for it does not know that few step back #}
    select /*+ merge(newer) */
        older.cluster_id,
        older.segment_id,
        older.leader_epoch,
        older.segment_state,
        min(if(newer.is_furthest, newer.finished_log_offset, null)) as moved_log_offset,
        min(
            if(
                not newer.is_furthest and newer.start_offset = older.start_offset,
                struct(newer.finished_log_offset, newer.segment_id, newer.copy_finished_at_ms),
                null
            )
        ) as overwriting

    from epochs_finished as older

    inner join stepping_back as newer
        on
            older.cluster_id = newer.cluster_id
            and older.topic_id = newer.topic_id
            and older.partition_index = newer.partition_index
            and older.leader_epoch = newer.leader_epoch
            and older.finished_log_offset < newer.finished_log_offset
            and older.start_offset >= newer.start_offset

    group by
        older.cluster_id,
        older.segment_id,
        older.leader_epoch,
        older.segment_state

),

epochs_superseded as (

    select
        cluster_id,
        segment_id,
        leader_epoch,
        overwriting.segment_id as next_segment_id,
        overwriting.copy_finished_at_ms as replaced_at_ms,
        {# what is marked for deletion is listed again #}
        segment_state = 'COPY_SEGMENT_FINISHED'
        and coalesce(overwriting.finished_log_offset < coalesce(moved_log_offset, overwriting.finished_log_offset + 1), false)
            as is_orphaned

    from successors_found

    where
        moved_log_offset is not null
        or overwriting is not null

)
{% endmacro %}
