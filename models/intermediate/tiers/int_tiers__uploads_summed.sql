with

local_segments as (

    select * from {{ ref('int_tiers__upload_candidates_reasoned') }}

    where
        is_leader
        and is_walked

),

uploads_summed as (

    select
        cluster_id,
        topic_id,
        partition_index,
        coalesce(
            max(next_base_offset) filter (where decision = 'upload')
            - min(base_offset) filter (where decision = 'upload'),
            0
        ) as upload_tier_lag,
        {{ offsets_because('ELIGIBLE') }} as upload_tier_lag_sum,
        coalesce(
            sum(next_base_offset - base_offset) filter (
                where decision = 'upload' and not is_in_flight
            ),
            0
        ) as upload_tier_lag_issued,
        coalesce(
            max(next_base_offset) filter (where decision = 'upload')
            - greatest(
                min(base_offset) filter (where decision = 'upload'),
                min(from_offset)
            ),
            0
        ) as upload_lag_new_offsets,
        {{ offsets_because('ABOVE_LAST_STABLE_OFFSET') }}
            as upload_blocked_by_lso,
        {{ offsets_because('DELAYED') }} as upload_delayed,
        coalesce(sum(size_bytes) filter (where decision = 'upload'), 0)
            as upload_lag_bytes,
        count_if(decision = 'upload') as upload_lag_segments,
        min_by(nullif(max_timestamp_ms, -1), base_offset) filter (
            where decision = 'upload'
        ) as oldest_pending_upload_at_ms

    from local_segments

    group by
        cluster_id,
        topic_id,
        partition_index

)

select * from uploads_summed
