with

remote_segments as (

    select * from {{ ref('int_tiers__delete_candidates_reasoned') }}

),

{# in the order of the walk, what lies beside it last #}
first_chosen as (

    select
        *,
        row_number() over (
            partition by cluster_id, topic_id, partition_index
            order by
                decision asc,
                walk_position asc nulls last,
                start_offset asc,
                segment_id asc
        ) as choice

    from remote_segments

),

deletes_summed as (

    select
        cluster_id,
        topic_id,
        partition_index,
        max(topic_name) as topic_name,
        coalesce(
            max(end_offset + 1) filter (where is_in_walk)
            - min_by(start_offset, walk_position) filter (where is_in_walk),
            0
        ) as delete_tier_lag,
        coalesce(
            {{ long_sum('end_offset + 1 - start_offset', "decision = 'delete'") }},
            0
        ) as delete_tier_lag_sum,
        coalesce(
            {{ long_sum(
                'end_offset + 1 - start_offset',
                "decision = 'delete' and segment_state <> 'DELETE_SEGMENT_STARTED'"
            ) }},
            0
        ) as delete_tier_lag_issued,
        coalesce(sum(size_bytes) filter (where decision = 'delete'), 0)
            as delete_lag_bytes,
        count_if(decision = 'delete') as delete_lag_segments,
        coalesce(sum(size_bytes) filter (where is_over_deleted), 0)
            as over_deleted_bytes,
        coalesce(
            min(delete_started_at_ms) filter (where decision = 'delete'),
            min(nullif(max_timestamp_ms, -1)) filter (
                where decision = 'delete' and choice = 1
            )
        ) as oldest_pending_delete_at_ms,
        bool_and(reason_code = 'NO_SNAPSHOT' or decision = 'delete')
        and bool_or(reason_code = 'NO_SNAPSHOT') as is_without_snapshot,
        bool_or(reason_code = 'TOPIC_DELETED') as is_topic_deleted

    from first_chosen

    group by
        cluster_id,
        topic_id,
        partition_index

)

select * from deletes_summed
