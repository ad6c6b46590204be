{{ config(materialized='run_list') }}

with

measured as (

    select * from {{ ref('int_tiers__segments_measured') }}

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

{# what the walk has passed in the lineage it has chosen: by its state, by the
   log's start, or by retention, which alone uses up the excess #}
budget_used as (

    select
        *,
        walk_position is not null
        and is_within_lineage
        and segment_state <> 'DELETE_SEGMENT_STARTED'
        and not is_below_log_start as uses_budget,
        walk_position is not null
        and is_below_log_start
        and is_within_lineage
        and segment_state = 'COPY_SEGMENT_FINISHED' as counts_in_total

    from measured

),

{# what the walk does not see comes before it, and adds nothing #}
budget_left as (

    select
        *,
        excess_bytes - coalesce(sum(if(uses_budget, size_bytes, 0)) over walk_so_far, 0)
            as budget_bytes,
        coalesce(sum(if(counts_in_total, size_bytes, 0)) over walk_so_far, 0) as uncounted_bytes

    from budget_used

    window
        walk_so_far as (
            partition by cluster_id, topic_id, partition_index
            order by walk_position asc nulls first
            rows between unbounded preceding and 1 preceding
        )

),

{# what the walk would say of each if it came so far #}
walk_codes_found as (

    select
        *,
        case
            when walk_position is null then null
            when is_copy_in_flight then 'COPY_IN_FLIGHT'
            when segment_state = 'DELETE_SEGMENT_STARTED' then 'DELETE_STARTED'
            when is_below_log_start then 'LOG_START'
            when not is_within_lineage then 'OUTSIDE_LINEAGE'
            when is_too_old then 'RETENTION_TIME'
            when budget_bytes > 0 and budget_bytes >= size_bytes
                then 'RETENTION_SIZE'
            else 'NOT_BREACHED'
        end as walk_code

    from budget_left

),

walked as (

    select
        *,
        walk_position is null
        or coalesce(
            bool_or({{ stops_walk('walk_code') }}) over (
                partition by cluster_id, topic_id, partition_index
                order by walk_position asc nulls first
                rows between unbounded preceding and 1 preceding
            ),
            false
        ) as is_behind_stop

    from walk_codes_found

),

reasons_found as (

    select
        walked.*,
        coalesce(
            walked.is_tiered
            and walked.has_lineage
            and topics_deleted.topic_id is null,
            false
        ) as is_walked,
        case
            when topics_deleted.topic_id is not null then 'TOPIC_DELETED'
            when walked.segment_state = 'DELETE_SEGMENT_STARTED'
                then 'DELETE_STARTED'
            when not walked.is_tiered then 'TIERING_OFF'
            when not walked.has_lineage then 'NO_SNAPSHOT'
            when walked.walk_code is not null
                then if(walked.is_behind_stop, 'WALK_STOPPED', walked.walk_code)
            when walked.is_below_lineage and not walked.is_orphaned
                then 'UNREFERENCED'
            else 'OUTSIDE_LINEAGE'
        end as reason_code

    from walked

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
        {# retention.bytes would keep it if what goes below the log's start were
           taken off the excess #}
        reason_code = 'RETENTION_SIZE' and budget_bytes - uncounted_bytes < size_bytes
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
