with

local_segments as (

    select * from {{ ref('int_tiers__local_segments_followed') }}

),

partitions_led as (

    select * from {{ ref('int_tiers__partitions_led') }}

),

topics as (

    select * from {{ ref('int_tiers__topics_configured') }}

    where is_tiered

),

lineage_offsets as (

    select * from {{ ref('int_tiers__lineage_offsets') }}

),

clusters as (

    select * from {{ ref('int_tiers__clusters_known') }}

),

local_segments_led as (

    select
        partitions_led.cluster_id,
        partitions_led.topic_id,
        partitions_led.partition_index,
        partitions_led.broker_id,
        partitions_led.topic_name,
        partitions_led.high_watermark,
        partitions_led.log_start_offset,
        partitions_led.local_log_start_offset,
        partitions_led.log_end_offset,
        topics.is_copy_disabled,
        if(
            topics.is_copy_disabled,
            topics.retention_bytes,
            topics.local_retention_bytes
        ) as kept_bytes,
        if(
            topics.is_copy_disabled,
            topics.retention_ms,
            topics.local_retention_ms
        ) as kept_ms,
        clusters.decided_at_ms,
        coalesce(lineage_offsets.copied_offset, -1) as copied_offset,
        local_segments.base_offset,
        local_segments.size_bytes,
        local_segments.max_timestamp_ms,
        local_segments.next_base_offset

    from partitions_led

    inner join local_segments using (cluster_id, topic_id, partition_index, broker_id)

    inner join topics using (cluster_id, topic_id)

    left join lineage_offsets using (cluster_id, topic_id, partition_index)

    left join clusters using (cluster_id)

)

select * from local_segments_led
