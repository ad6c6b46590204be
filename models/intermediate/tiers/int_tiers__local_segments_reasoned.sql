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

segments_led as (

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

),

segments_judged as (

    select
        *,
        next_base_offset is null as is_last,
        coalesce(
            high_watermark >= coalesce(next_base_offset, log_end_offset)
            and (next_base_offset is not null or size_bytes > 0),
            false
        ) as is_in_reach,
        coalesce(next_base_offset - 1 <= copied_offset, false) as is_uploaded,
        coalesce(next_base_offset <= local_log_start_offset, false)
            as is_behind_start,
        coalesce(log_start_offset >= next_base_offset, false) as is_cut_off,
        coalesce(
            max_timestamp_ms >= 0
            and kept_ms >= 0
            and max_timestamp_ms < decided_at_ms - kept_ms,
            false
        ) as is_old

    from segments_led

),

{# Kafka, UnifiedLog.deletableSegments: three passes from the oldest segment,
   each ends at the first that stays. One that is not uploaded ends all of
   them, so what goes is what is past retention before the first such one #}
start_passed as (

    select
        *,
        bool_and(is_in_reach and is_behind_start) over so_far as is_before_start,
        bool_and(is_last or is_copy_disabled or is_uploaded or is_cut_off)
            over so_far as is_free

    from segments_judged

    window
        so_far as (
            partition by cluster_id, topic_id, partition_index
            order by base_offset
            rows between unbounded preceding and current row
        )

),

bytes_summed as (

    select
        *,
        sum(if(is_before_start, 0, size_bytes)) over (
            partition by cluster_id, topic_id, partition_index
            order by base_offset desc
            rows between unbounded preceding and current row
        ) - size_bytes as bytes_after

    from start_passed

),

size_passed as (

    select
        *,
        bool_and(
            is_before_start
            or (is_in_reach and kept_bytes between 0 and bytes_after)
        ) over (
            partition by cluster_id, topic_id, partition_index
            order by base_offset
            rows between unbounded preceding and current row
        ) as is_over_size

    from bytes_summed

),

time_passed as (

    select
        *,
        bool_and(is_over_size or (is_in_reach and is_old)) over (
            partition by cluster_id, topic_id, partition_index
            order by base_offset
            rows between unbounded preceding and current row
        ) as is_past

    from size_passed

),

local_segments_reasoned as (

    select
        cluster_id,
        topic_id,
        partition_index,
        broker_id,
        base_offset,
        next_base_offset,
        topic_name,
        size_bytes,
        max_timestamp_ms,
        is_uploaded,
        local_log_start_offset,
        case
            when not (is_past and is_free) then 'keep'
            when is_last then 'roll'
            else 'delete'
        end as decision,
        case
            when is_past and is_free and is_before_start then 'LOG_START'
            when is_past and is_free and is_over_size then 'RETENTION_SIZE'
            when is_past and is_free then 'RETENTION_TIME'
            when is_last then 'ACTIVE'
            when is_past then 'NOT_UPLOADED'
            when is_old and not is_in_reach then 'ABOVE_HIGH_WATERMARK'
            when is_old then 'WALK_STOPPED'
            else 'NOT_BREACHED'
        end as reason_code

    from time_passed

)

select * from local_segments_reasoned
