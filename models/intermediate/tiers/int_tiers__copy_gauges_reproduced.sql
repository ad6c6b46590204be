with

segments_counted as (

    select * from {{ ref('int_tiers__copy_segments_counted') }}

),

copy_gauges_reproduced as (

    select
        cluster_id,
        topic_id,
        partition_index,
        broker_id,
        topic_name,
        is_open,
        shown_since_ms,
        sum(lag_bytes) as lag_bytes,
        sum(lag_segments) as lag_segments,
        bool_or(is_stale_until_run_ends) as is_stale_until_run_ends,
        bool_or(counts_above_last_stable_offset)
            as counts_above_last_stable_offset,
        bool_or(counts_delayed) as counts_delayed,
        bool_or(counts_below_log_start) as counts_below_log_start,
        bool_or(omits_partly_copied) as omits_partly_copied

    from segments_counted

    group by
        cluster_id,
        topic_id,
        partition_index,
        broker_id,
        topic_name,
        is_open,
        shown_since_ms

)

select * from copy_gauges_reproduced
