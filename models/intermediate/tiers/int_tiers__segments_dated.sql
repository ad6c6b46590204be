with

remote_segments as (

    select * from {{ ref('stg_state__remote_segments') }}

),

local_segments as (

    select * from {{ ref('stg_state__local_segments') }}

),

partitions_led as (

    select * from {{ ref('int_tiers__partitions_led') }}

),

{# the last segment is the active one #}
closed_local_segments as (

    select
        local_segments.cluster_id,
        local_segments.topic_id,
        local_segments.partition_index,
        inline(
            transform(
                slice(
                    local_segments.segments,
                    1,
                    greatest(size(local_segments.segments) - 1, 0)
                ),
                (segment, position) -> struct(
                    segment.base_offset,
                    get(local_segments.segments, position + 1).base_offset,
                    segment.size_bytes,
                    segment.max_timestamp_ms
                )
            )
        ) as (
            base_offset,
            next_base_offset,
            size_bytes,
            max_timestamp_ms
        )

    from local_segments

    left semi join partitions_led using (cluster_id, topic_id, partition_index, broker_id)

),

{# offsets are known to be closed from a finished copy, or from the disk #}
segments_dated as (

    select
        cluster_id,
        topic_id,
        partition_index,
        segment_id,
        size_bytes,
        max_timestamp_ms,
        if(finished_log_offset is null, null, start_offset) as base_offset,
        if(finished_log_offset is null, null, end_offset + 1)
            as next_base_offset,
        if(finished_log_offset is null, 0, end_offset + 1 - start_offset)
            as offset_count,
        copy_finished_at_ms,
        {# removing what a failed copy left is no progress #}
        if(finished_log_offset is null, null, delete_finished_at_ms)
            as delete_finished_at_ms

    from remote_segments

    union all

    select
        cluster_id,
        topic_id,
        partition_index,
        null as segment_id,
        size_bytes,
        max_timestamp_ms,
        base_offset,
        next_base_offset,
        0 as offset_count,
        null as copy_finished_at_ms,
        null as delete_finished_at_ms

    from closed_local_segments

)

select * from segments_dated
