with

partitions_led as (

    select * from {{ ref('int_tiers__partitions_led') }}

),

partition_states as (

    select * from {{ ref('stg_state__partition_states') }}

),

topics as (

    select * from {{ ref('int_tiers__topics_configured') }}

),

remote_segments as (

    select * from {{ ref('stg_state__remote_segments') }}

),

delete_candidates as (

    select * from {{ ref('int_tiers__delete_candidates_decided') }}

),

lineage_offsets as (

    select * from {{ ref('int_tiers__lineage_offsets') }}

),

segments_counted as (

    select
        cluster_id,
        topic_id,
        partition_index,
        max_by(topic_name, copy_started_at_ms) as topic_name,
        max_by(log_partition_index, copy_started_at_ms)
            as metadata_partition_index,
        count_if(segment_state = 'COPY_SEGMENT_STARTED') as copying_segments,
        count_if(segment_state = 'COPY_SEGMENT_FINISHED') as remote_segments,
        count_if(segment_state = 'DELETE_SEGMENT_STARTED')
            as deleting_segments,
        sum(if(segment_state = 'COPY_SEGMENT_FINISHED', size_bytes, 0))
            as remote_bytes,
        sum(if(segment_state = 'DELETE_SEGMENT_FINISHED', 0, size_bytes))
            as live_bytes,
        min(if(segment_state = 'COPY_SEGMENT_FINISHED', start_offset, null))
            as earliest_remote_offset,
        max(if(segment_state = 'COPY_SEGMENT_FINISHED', end_offset, null))
            as latest_remote_offset

    from remote_segments

    group by
        cluster_id,
        topic_id,
        partition_index

    having bool_or(segment_state <> 'DELETE_SEGMENT_FINISHED')

),

{# Kafka moves the start of the log before it deletes the first of what retention has chosen #}
log_starts_moved as (

    select
        cluster_id,
        topic_id,
        partition_index,
        max(end_offset) + 1 as log_start_offset

    from delete_candidates

    where reason_code in ('RETENTION_TIME', 'RETENTION_SIZE')

    group by
        cluster_id,
        topic_id,
        partition_index

),

partitions_known as (

    select
        partitions_led.cluster_id,
        partitions_led.topic_id,
        partitions_led.partition_index

    from partitions_led

    left semi join topics
        on
            partitions_led.cluster_id = topics.cluster_id
            and partitions_led.topic_id = topics.topic_id
            and topics.is_tiered

    union distinct

    select
        cluster_id,
        topic_id,
        partition_index

    from segments_counted

),

metadata_topics as (

    select
        cluster_id,
        count(distinct partition_index) as partition_count

    from partition_states

    where topic_name = '__remote_log_metadata'

    group by cluster_id

),

tier_partitions as (

    select
        known.cluster_id,
        known.topic_id,
        known.partition_index,
        coalesce(led.topic_name, segments.topic_name) as topic_name,
        led.broker_id,
        led.leader_epoch,
        led.log_start_offset,
        if(
            led.broker_id is null,
            null,
            greatest(led.log_start_offset, moved.log_start_offset)
        ) as log_start_after,
        led.local_log_start_offset,
        led.last_stable_offset,
        led.high_watermark,
        led.log_end_offset,
        lineage.leader_log_start_offset,
        lineage.copied_offset,
        lineage.copied_epoch,
        segments.earliest_remote_offset,
        segments.latest_remote_offset,
        coalesce(segments.remote_segments, 0) as remote_segments,
        coalesce(segments.remote_bytes, 0) as remote_bytes,
        coalesce(segments.copying_segments, 0) as copying_segments,
        coalesce(segments.deleting_segments, 0) as deleting_segments,
        coalesce(segments.live_bytes, 0) as live_bytes,
        coalesce(
            segments.metadata_partition_index,
            {{ metadata_partition_index('known', 'metadata_topics') }}
        ) as metadata_partition_index,
        led.lineage,
        topics.is_tiered,
        topics.is_copy_disabled,
        topics.retention_ms,
        topics.retention_bytes,
        topics.local_retention_ms,
        topics.local_retention_bytes,
        topics.copy_lag_ms,
        topics.copy_lag_bytes,
        {{ instant('led.taken_at_ms') }} as taken_at

    from partitions_known as known

    left join partitions_led as led using (cluster_id, topic_id, partition_index)

    left join segments_counted as segments using (cluster_id, topic_id, partition_index)

    left join lineage_offsets as lineage using (cluster_id, topic_id, partition_index)

    left join log_starts_moved as moved using (cluster_id, topic_id, partition_index)

    left join topics using (cluster_id, topic_id)

    left join metadata_topics using (cluster_id)

)

select * from tier_partitions
