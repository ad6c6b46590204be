with

local_segments as (

    select * from {{ ref('int_tiers__local_segments_reasoned') }}

),

segments_counted as (

    select
        cluster_id,
        topic_id,
        partition_index,
        any_value(topic_name) as topic_name,
        any_value(broker_id) as broker_id,
        count(*) as local_segments,
        sum(size_bytes) as local_bytes,
        count_if(decision = 'delete') as deletable_segments,
        sum(if(decision = 'delete', size_bytes, 0)) as deletable_bytes,
        count_if(reason_code = 'NOT_UPLOADED') as pinned_local_segments,
        sum(if(reason_code = 'NOT_UPLOADED', size_bytes, 0))
            as pinned_local_bytes,
        min(if(reason_code = 'NOT_UPLOADED', base_offset, null))
            as pinned_from_offset,
        min(
            if(
                reason_code = 'NOT_UPLOADED' and max_timestamp_ms >= 0,
                max_timestamp_ms,
                null
            )
        ) as oldest_pinned_at_ms,
        count_if(is_uploaded) as doubly_stored_segments,
        sum(if(is_uploaded, size_bytes, 0)) as doubly_stored_bytes,
        bool_or(decision = 'roll') as is_active_rolled,
        max(local_log_start_offset) as local_log_start_offset,
        greatest(
            max(local_log_start_offset),
            max(if(decision = 'delete', next_base_offset, null))
        ) as local_log_start_after

    from local_segments

    group by
        cluster_id,
        topic_id,
        partition_index

),

local_retention as (

    select
        *,
        {{ instant('oldest_pinned_at_ms') }} as oldest_pinned_at

    from segments_counted

)

select * from local_retention
