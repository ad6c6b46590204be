{{ config(materialized='run_list') }}

with

segments as (

    select * from {{ ref('int_tiers__segments_walked') }}

),

clusters as (

    select * from {{ ref('int_tiers__clusters_configured') }}

),

topics as (

    select * from {{ ref('int_tiers__topics_configured') }}

),

local_segments as (

    select * from {{ ref('int_tiers__local_segments_checked') }}

    where is_leader

),

copied_offsets as (

    select * from {{ ref('int_tiers__copied_offsets') }}

),

{# Kafka, UnifiedLog.onlyLocalLogSegmentsSize: what begins after the highest
   copied offset, the active segment too (4.4.0) #}
only_local as (

    select
        local_segments.cluster_id,
        local_segments.topic_id,
        local_segments.partition_index,
        sum(local_segments.size_bytes) as only_local_bytes

    from local_segments

    inner join copied_offsets using (cluster_id, topic_id, partition_index)

    where local_segments.base_offset > copied_offsets.copied_offset

    group by
        local_segments.cluster_id,
        local_segments.topic_id,
        local_segments.partition_index

),

totals_added as (

    select
        segments.*,
        clusters.run_id,
        clusters.ruleset,
        clusters.settings_hash,
        clusters.decided_at_ms,
        clusters.breaches_at_boundary,
        topics.topic_id is not null as is_topic_present,
        coalesce(topics.is_tiered, true) as is_tiered,
        topics.retention_ms,
        topics.retention_bytes,
        topics.next_config_at_ms,
        nullif(
            greatest(clusters.decided_at_ms - topics.retention_ms, -1), -1
        ) as time_cut_at_ms,
        coalesce(only_local.only_local_bytes, 0)
        + coalesce(
            sum(
                if(
                    segments.segment_state = 'COPY_SEGMENT_FINISHED'
                    and segments.is_within_lineage
                    and segments.walk_position is not null,
                    segments.size_bytes,
                    0
                )
            ) over (
                partition by
                    segments.cluster_id,
                    segments.topic_id,
                    segments.partition_index
            ),
            0
        ) as total_bytes

    from segments

    inner join clusters using (cluster_id)

    left join topics using (cluster_id, topic_id)

    left join only_local using (cluster_id, topic_id, partition_index)

),

segments_measured as (

    select
        cluster_id,
        segment_id,
        topic_id,
        topic_name,
        partition_index,
        start_offset,
        end_offset,
        segment_state,
        size_bytes,
        max_timestamp_ms,
        delete_started_at_ms,
        has_lineage,
        is_copy_in_flight,
        is_within_lineage,
        is_below_log_start,
        is_below_lineage,
        is_orphaned,
        walk_position,
        run_id,
        ruleset,
        settings_hash,
        decided_at_ms,
        breaches_at_boundary,
        is_topic_present,
        is_tiered,
        retention_ms,
        next_config_at_ms,
        if(retention_bytes >= 0, greatest(total_bytes - retention_bytes, 0), 0)
            as excess_bytes,
        coalesce(
            is_within_lineage
            and retention_ms >= 0
            and (
                max_timestamp_ms < time_cut_at_ms
                or (breaches_at_boundary and max_timestamp_ms = time_cut_at_ms)
            ),
            false
        ) as is_too_old

    from totals_added

)

select * from segments_measured
