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

clusters as (

    select * from {{ ref('int_tiers__clusters_known') }}

),

topics as (

    select * from {{ ref('int_tiers__topics_configured') }}

),

windows as (

    select explode({{ rate_windows_ms() }}) as window_ms

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
segments as (

    select
        cluster_id,
        topic_id,
        partition_index,
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
        size_bytes,
        max_timestamp_ms,
        base_offset,
        next_base_offset,
        0 as offset_count,
        null as copy_finished_at_ms,
        null as delete_finished_at_ms

    from closed_local_segments

),

segments_placed as (

    select
        segments.*,
        windows.window_ms,
        topics.retention_bytes,
        coalesce(
            segments.copy_finished_at_ms
            > clusters.decided_at_ms - windows.window_ms
            and segments.copy_finished_at_ms <= clusters.decided_at_ms,
            false
        ) as is_uploaded,
        coalesce(
            segments.delete_finished_at_ms
            > clusters.decided_at_ms - windows.window_ms
            and segments.delete_finished_at_ms <= clusters.decided_at_ms,
            false
        ) as is_deleted,
        segments.max_timestamp_ms > clusters.decided_at_ms - windows.window_ms
            as is_new,
        coalesce(
            topics.retention_ms >= 0
            and clusters.decided_at_ms - segments.max_timestamp_ms
            between topics.retention_ms
            and try_add(topics.retention_ms, windows.window_ms) - 1,
            false
        ) as is_expired

    from segments

    inner join clusters using (cluster_id)

    left join topics using (cluster_id, topic_id)

    cross join windows

),

segments_summed as (

    select
        cluster_id,
        topic_id,
        partition_index,
        window_ms,
        count_if(is_uploaded) as uploaded_segments,
        sum(if(is_uploaded, size_bytes, 0)) as uploaded_bytes,
        sum(if(is_uploaded, offset_count, 0)) as uploaded_offsets,
        count_if(is_deleted) as deleted_segments,
        sum(if(is_deleted, size_bytes, 0)) as deleted_bytes,
        sum(if(is_deleted, offset_count, 0)) as deleted_offsets,
        sum(if(is_expired, offset_count, 0)) as expired_offsets,
        bool_or(retention_bytes >= 0) as is_limited_by_size,
        max(next_base_offset) - coalesce(
            max(if(is_new, null, next_base_offset)), min(base_offset)
        ) as arrived_offsets

    from segments_placed

    group by
        cluster_id,
        topic_id,
        partition_index,
        window_ms

),

rates_measured as (

    select
        cluster_id,
        topic_id,
        partition_index,
        window_ms,
        uploaded_segments,
        uploaded_bytes,
        uploaded_offsets,
        coalesce(arrived_offsets, 0) as arrived_offsets,
        deleted_segments,
        deleted_bytes,
        deleted_offsets,
        greatest(
            expired_offsets, if(is_limited_by_size, arrived_offsets, 0)
        ) as expired_offsets

    from segments_summed

)

select * from rates_measured
