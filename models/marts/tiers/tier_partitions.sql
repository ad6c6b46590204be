with

partitions_known as (

    select * from {{ ref('int_tiers__partitions_known') }}

),

partitions_led as (

    select * from {{ ref('int_tiers__partitions_led') }}

),

partition_states as (

    select * from {{ ref('stg_state__partition_states') }}

),

topics as (

    select * from {{ ref('int_tiers__topics_configured') }}

),

lineage_offsets as (

    select * from {{ ref('int_tiers__lineage_offsets') }}

),

segments_counted as (

    select * from {{ ref('int_tiers__remote_segments_counted') }}

    where is_live

),

log_starts_moved as (

    select * from {{ ref('int_tiers__log_starts_moved') }}

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
