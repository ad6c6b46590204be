{{ config(materialized='run_list') }}

with

copies_in_flight as (

    select * from {{ ref('int_tiers__copies_in_flight') }}

),

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

walked as (

    select
        *,
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

),

delays_found as (

    select
        *,
        keep_code is null
        and delays_upload
        and not (
            copy_lag_ms = 0
            or copy_lag_bytes = 0
            or (copy_lag_ms > 0 and (age_ms < 0 or age_ms >= copy_lag_ms))
            or (copy_lag_bytes > 0 and bytes_after >= copy_lag_bytes)
        ) as is_too_young

    from walked

),

{# the first that has to wait stops the walk #}
reasons_found as (

    select
        *,
        case
            when keep_code is not null then keep_code
            when
                bool_or(is_too_young) over (
                    partition by
                        cluster_id, topic_id, partition_index, broker_id
                    order by base_offset asc
                    rows between unbounded preceding and current row
                )
                then 'DELAYED'
            else 'ELIGIBLE'
        end as reason_code

    from delays_found

),

runs_measured as (

    select
        *,
        max(if(reason_code = 'ELIGIBLE', next_base_offset, null)) over (
            partition by cluster_id, topic_id, partition_index, broker_id
        ) as run_end_offset,
        min(if(reason_code = 'ELIGIBLE', base_offset, null)) over (
            partition by cluster_id, topic_id, partition_index, broker_id
        ) as run_base_offset

    from reasons_found

),

upload_candidates_reasoned as (

    select
        measured.cluster_id,
        measured.topic_id,
        measured.topic_name,
        measured.partition_index,
        measured.broker_id,
        measured.base_offset,
        measured.run_id,
        measured.ruleset,
        measured.settings_hash,
        if(measured.reason_code = 'ELIGIBLE', 'upload', 'keep') as decision,
        measured.reason_code,
        measured.next_base_offset,
        measured.size_bytes,
        measured.max_timestamp_ms,
        {{ upload_lag('measured', 'measured.base_offset') }} as lag_before,
        {{ upload_lag('measured', 'measured.next_base_offset') }} as lag_after,
        measured.from_offset,
        measured.is_leader,
        measured.refusal_code is null as is_walked,
        copies_in_flight.start_offset is not null as is_in_flight,
        measured.decided_at_ms,
        least(
            measured.next_config_at_ms,
            case
                when measured.keep_code is not null then null
                when not measured.delays_upload or measured.copy_lag_ms <= 0
                    then null
                when measured.age_ms < 0 then measured.max_timestamp_ms
                when measured.age_ms < measured.copy_lag_ms
                    then
                        try_add(
                            measured.max_timestamp_ms, measured.copy_lag_ms
                        )
            end
        ) as next_due_at_ms

    from runs_measured as measured

    left join copies_in_flight
        on
            measured.cluster_id = copies_in_flight.cluster_id
            and measured.topic_id = copies_in_flight.topic_id
            and measured.partition_index = copies_in_flight.partition_index
            and measured.base_offset = copies_in_flight.start_offset

)

select * from upload_candidates_reasoned
