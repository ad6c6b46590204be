with

segments as (

    select * from {{ ref('int_tiers__segments_listed') }}

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

only_local as (

    select
        local_segments.cluster_id,
        local_segments.topic_id,
        local_segments.partition_index,
        sum(local_segments.size_bytes) as size_bytes

    from local_segments

    inner join copied_offsets
        on
            local_segments.cluster_id = copied_offsets.cluster_id
            and local_segments.topic_id = copied_offsets.topic_id
            and local_segments.partition_index = copied_offsets.partition_index

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
        coalesce(only_local.size_bytes, 0)
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

    inner join clusters
        on segments.cluster_id = clusters.cluster_id

    left join topics
        on
            segments.cluster_id = topics.cluster_id
            and segments.topic_id = topics.topic_id

    left join only_local
        on
            segments.cluster_id = only_local.cluster_id
            and segments.topic_id = only_local.topic_id
            and segments.partition_index = only_local.partition_index

),

segments_measured as (

    select
        *,
        if(retention_bytes >= 0, greatest(total_bytes - retention_bytes, 0), 0)
            as excess_bytes,
        coalesce(
            array_max(leader_epochs.leader_epoch)
            <= get(lineage, 0).leader_epoch
            and end_offset < log_start_offset,
            false
        ) as is_below_log_start,
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
