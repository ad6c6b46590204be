with

exploded as (

    select
        cluster_id,
        topic_id,
        topic_name,
        partition_index,
        broker_id,
        segments,
        posexplode(segments) as (position, segment)

    from {{ ref('stg_state__local_segments') }}

),

successors_found as (

    select
        *,
        get(segments, position + 1) as successor

    from exploded

),

local_segments_followed as (

    select
        cluster_id,
        topic_id,
        topic_name,
        partition_index,
        broker_id,
        segment.base_offset,
        segment.size_bytes,
        segment.max_timestamp_ms,
        segment.is_active or successor is null as is_active,
        successor.base_offset as next_base_offset,
        successor.max_timestamp_ms as next_max_timestamp_ms,
        successor.record_count as next_record_count

    from successors_found

)

select * from local_segments_followed
