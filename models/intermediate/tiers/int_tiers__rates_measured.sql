with

segments as (

    select * from {{ ref('int_tiers__segments_dated') }}

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
