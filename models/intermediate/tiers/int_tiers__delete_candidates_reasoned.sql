{{ config(materialized='run_list') }}

with

measured as (

    select * from {{ ref('int_tiers__segments_measured') }}

),

walked as (

    select * from {{ ref('int_tiers__segments_walked') }}

),

{# a topic that no broker tells of any more, every segment of which is marked #}
topics_deleted as (

    select
        segments.cluster_id,
        segments.topic_id

    from {{ ref('stg_state__remote_segments') }} as segments

    left semi join measured
        on
            segments.cluster_id = measured.cluster_id
            and segments.topic_id = measured.topic_id
            and not measured.is_topic_present

    where segments.segment_state <> 'DELETE_SEGMENT_FINISHED'

    group by
        segments.cluster_id,
        segments.topic_id

    having bool_and(segments.segment_state = 'DELETE_SEGMENT_STARTED')

),

reasons_found as (

    select
        measured.*,
        coalesce(
            measured.is_tiered
            and measured.has_lineage
            and topics_deleted.topic_id is null,
            false
        ) as is_walked,
        coalesce(walked.is_behind_stop, true) as is_behind_stop,
        coalesce(walked.is_over_deleted, false) as may_be_over_deleted,
        case
            when topics_deleted.topic_id is not null then 'TOPIC_DELETED'
            when measured.segment_state = 'DELETE_SEGMENT_STARTED'
                then 'DELETE_STARTED'
            when not measured.is_tiered then 'TIERING_OFF'
            when not measured.has_lineage then 'NO_SNAPSHOT'
            when walked.is_behind_stop then 'WALK_STOPPED'
            when walked.walk_code is not null then walked.walk_code
            when measured.is_below_lineage and not measured.is_orphaned
                then 'UNREFERENCED'
            else 'OUTSIDE_LINEAGE'
        end as reason_code

    from measured

    left join walked using (cluster_id, segment_id)

    left join topics_deleted using (cluster_id, topic_id)

),

choices_made as (

    select
        *,
        reason_code in (
            'RETENTION_TIME',
            'RETENTION_SIZE',
            'LOG_START',
            'DELETE_STARTED',
            'UNREFERENCED',
            'TOPIC_DELETED'
        ) as is_chosen

    from reasons_found

),

delete_candidates_reasoned as (

    select
        cluster_id,
        segment_id,
        topic_id,
        topic_name,
        partition_index,
        run_id,
        ruleset,
        settings_hash,
        if(is_chosen, 'delete', 'keep') as decision,
        reason_code,
        start_offset,
        end_offset,
        size_bytes,
        max_timestamp_ms,
        segment_state,
        if(is_walked, walk_position, null) as walk_position,
        {{ delete_lag('current row') }} as lag_before,
        {{ delete_lag('1 preceding') }} as lag_after,
        is_chosen and is_walked and not is_behind_stop as is_in_walk,
        may_be_over_deleted and reason_code = 'RETENTION_SIZE'
            as is_over_deleted,
        is_copy_in_flight,
        delete_started_at_ms,
        decided_at_ms,
        least(
            next_config_at_ms,
            if(
                reason_code in ('NOT_BREACHED', 'RETENTION_SIZE')
                and retention_ms >= 0,
                try_add(
                    try_add(max_timestamp_ms, retention_ms),
                    if(breaches_at_boundary, 0L, 1L)
                ),
                null
            )
        ) as next_due_at_ms

    from choices_made

)

select * from delete_candidates_reasoned
