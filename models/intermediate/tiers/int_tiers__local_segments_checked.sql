with

local_segments as (

    select * from {{ ref('stg_state__local_segments') }}

),

partitions_due as (

    select distinct
        cluster_id,
        topic_id,
        partition_index

    from {{ ref('int_tiers__partitions_due') }}

),

partition_states as (

    select * from {{ ref('stg_state__partition_states') }}

    where topic_id is not null

),

partitions_led as (

    select * from {{ ref('int_tiers__partitions_led') }}

),

segments_exploded as (

    select
        local_segments.cluster_id,
        local_segments.topic_id,
        local_segments.topic_name,
        local_segments.partition_index,
        local_segments.broker_id,
        local_segments.segments,
        posexplode(local_segments.segments) as (position, segment)

    from local_segments

    left semi join partitions_due using (cluster_id, topic_id, partition_index)

),

local_segments_checked as (

    select
        segments_exploded.cluster_id,
        segments_exploded.topic_id,
        segments_exploded.topic_name,
        segments_exploded.partition_index,
        segments_exploded.broker_id,
        segments_exploded.segment.base_offset,
        coalesce(
            get(
                segments_exploded.segments, segments_exploded.position + 1
            ).base_offset,
            greatest(
                partition_states.log_end_offset,
                segments_exploded.segment.base_offset
            )
        ) as next_base_offset,
        segments_exploded.segment.size_bytes,
        segments_exploded.segment.max_timestamp_ms,
        segments_exploded.segment.is_active
        or segments_exploded.position = size(segments_exploded.segments) - 1
            as is_active,
        partition_states.broker_id is not null as has_partition_state,
        partitions_led.broker_id is not null as is_leader

    from segments_exploded

    left join partition_states using (cluster_id, topic_id, partition_index, broker_id)

    left join partitions_led using (cluster_id, topic_id, partition_index, broker_id)

)

select * from local_segments_checked
