with

measured as (

    select * from {{ ref('int_tiers__segments_measured') }}

),

{# what the walk has passed in the lineage it has chosen: by its state, by the
   log's start, or by retention, which alone uses up the excess #}
budget_used as (

    select
        *,
        is_within_lineage
        and segment_state <> 'DELETE_SEGMENT_STARTED'
        and not is_below_log_start as uses_budget,
        is_below_log_start
        and is_within_lineage
        and segment_state = 'COPY_SEGMENT_FINISHED' as counts_in_total

    from measured

    where walk_position is not null

),

budget_left as (

    select
        *,
        excess_bytes - coalesce(
            sum(if(uses_budget, size_bytes, 0)) over (
                partition by cluster_id, topic_id, partition_index
                order by walk_position asc
                rows between unbounded preceding and 1 preceding
            ),
            0
        ) as budget_bytes,
        coalesce(
            sum(if(counts_in_total, size_bytes, 0)) over (
                partition by cluster_id, topic_id, partition_index
                order by walk_position asc
                rows between unbounded preceding and 1 preceding
            ),
            0
        ) as uncounted_bytes

    from budget_used

),

reasons_found as (

    select
        *,
        case
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

segments_walked as (

    select
        cluster_id,
        segment_id,
        walk_code,
        coalesce(
            bool_or(walk_code in ('COPY_IN_FLIGHT', 'NOT_BREACHED')) over (
                partition by cluster_id, topic_id, partition_index
                order by walk_position asc
                rows between unbounded preceding and 1 preceding
            ),
            false
        ) as is_behind_stop,
        walk_code = 'RETENTION_SIZE'
        and budget_bytes - uncounted_bytes < size_bytes as is_over_deleted

    from reasons_found

)

select * from segments_walked
