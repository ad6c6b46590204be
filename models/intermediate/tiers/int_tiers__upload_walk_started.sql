with

local_segments as (

    select * from {{ ref('int_tiers__local_segments_checked') }}

),

clusters as (

    select * from {{ ref('int_tiers__clusters_configured') }}

),

topics as (

    select * from {{ ref('int_tiers__topics_configured') }}

),

partitions_led as (

    select * from {{ ref('int_tiers__partitions_led') }}

),

copied_offsets as (

    select * from {{ ref('int_tiers__copied_offsets') }}

),

segments_joined as (

    select
        local_segments.*,
        clusters.run_id,
        clusters.ruleset,
        clusters.settings_hash,
        clusters.decided_at_ms,
        clusters.delays_upload,
        topics.copy_lag_ms,
        topics.copy_lag_bytes,
        topics.next_config_at_ms,
        partitions_led.last_stable_offset,
        copied_offsets.copied_offset,
        partitions_led.log_start_offset,
        greatest(
            copied_offsets.copied_offset + 1, partitions_led.log_start_offset
        ) as from_offset,
        coalesce(
            sum(local_segments.size_bytes) over (
                partition by
                    local_segments.cluster_id,
                    local_segments.topic_id,
                    local_segments.partition_index,
                    local_segments.broker_id
                order by local_segments.base_offset desc
                rows between unbounded preceding and 1 preceding
            ),
            0
        ) as bytes_after,
        case
            when not local_segments.has_partition_state then 'NO_SNAPSHOT'
            when not local_segments.is_leader then 'NOT_LEADER'
            when not topics.is_tiered then 'TIERING_OFF'
            when topics.is_copy_disabled then 'COPY_DISABLED'
            when
                copied_offsets.copied_offset is null
                or partitions_led.last_stable_offset is null
                then 'NO_SNAPSHOT'
        end as refusal_code

    from local_segments

    inner join clusters using (cluster_id)

    left join topics using (cluster_id, topic_id)

    left join partitions_led using (cluster_id, topic_id, partition_index)

    left join copied_offsets using (cluster_id, topic_id, partition_index)

),

upload_walk_started as (

    select
        cluster_id,
        topic_id,
        topic_name,
        partition_index,
        broker_id,
        base_offset,
        next_base_offset,
        size_bytes,
        max_timestamp_ms,
        is_leader,
        run_id,
        ruleset,
        settings_hash,
        decided_at_ms,
        delays_upload,
        copy_lag_ms,
        copy_lag_bytes,
        next_config_at_ms,
        from_offset,
        bytes_after,
        refusal_code,
        decided_at_ms - max_timestamp_ms as age_ms,
        case
            when refusal_code is not null then refusal_code
            when is_active then 'ACTIVE'
            when next_base_offset <= copied_offset + 1 then 'ALREADY_COPIED'
            when next_base_offset <= from_offset then 'BELOW_LOG_START'
            when
                last_stable_offset <= 0
                or copied_offset >= last_stable_offset
                or next_base_offset > last_stable_offset
                then 'ABOVE_LAST_STABLE_OFFSET'
        end as keep_code

    from segments_joined

)

select * from upload_walk_started
