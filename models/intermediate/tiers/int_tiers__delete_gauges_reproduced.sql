with

segments_counted as (

    select * from {{ ref('int_tiers__delete_segments_counted') }}

),

segments_summed as (

    select
        cluster_id,
        topic_id,
        partition_index,
        broker_id,
        topic_name,
        shown,
        segments_live,
        coalesce(sum(lag_bytes), 0) as lag_bytes,
        coalesce(sum(lag_segments), 0) as lag_segments,
        bool_or(waits_for_next_run) as waits_for_next_run,
        bool_or(omits_marked_behind_walk) as omits_marked_behind_walk,
        bool_or(omits_bytes_of_retries) as omits_bytes_of_retries,
        bool_or(keeps_negative_after_retry) as keeps_negative_after_retry,
        bool_or(counts_segment_per_epoch) as counts_segment_per_epoch,
        bool_or(counts_straddling_epoch) as counts_straddling_epoch,
        bool_or(counts_unbreached) as counts_unbreached

    from segments_counted

    group by
        cluster_id,
        topic_id,
        partition_index,
        broker_id,
        topic_name,
        shown,
        segments_live

),

delete_gauges_reproduced as (

    select
        *,
        segments_live = 0
        and (lag_bytes <> 0 or lag_segments <> 0)
            as keeps_last_value_without_segments

    from segments_summed

)

select * from delete_gauges_reproduced
