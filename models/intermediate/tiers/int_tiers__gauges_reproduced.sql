with

copy_gauges as (

    select * from {{ ref('int_tiers__copy_gauges_reproduced') }}

),

delete_gauges as (

    select * from {{ ref('int_tiers__delete_gauges_reproduced') }}

),

copy_metrics as (

    select
        *,
        explode(
            map(
                'RemoteCopyLagBytes', lag_bytes,
                'RemoteCopyLagSegments', lag_segments
            )
        ) as (metric_name, kafka_value)

    from copy_gauges

),

delete_metrics as (

    select
        *,
        explode(
            map(
                'RemoteDeleteLagBytes', lag_bytes,
                'RemoteDeleteLagSegments', lag_segments
            )
        ) as (metric_name, kafka_value)

    from delete_gauges

),

gauges_reproduced as (

    select
        cluster_id,
        topic_id,
        partition_index,
        metric_name,
        topic_name,
        broker_id,
        kafka_value,
        is_stale_until_run_ends,
        counts_above_last_stable_offset,
        counts_delayed,
        counts_below_log_start,
        omits_partly_copied,
        false as waits_for_next_run,
        false as omits_marked_behind_walk,
        false as omits_bytes_of_retries,
        false as keeps_negative_after_retry,
        false as keeps_last_value_without_segments,
        false as counts_segment_per_epoch,
        false as counts_straddling_epoch,
        false as counts_unbreached

    from copy_metrics

    union all

    select
        cluster_id,
        topic_id,
        partition_index,
        metric_name,
        topic_name,
        broker_id,
        kafka_value,
        false as is_stale_until_run_ends,
        false as counts_above_last_stable_offset,
        false as counts_delayed,
        false as counts_below_log_start,
        false as omits_partly_copied,
        waits_for_next_run,
        omits_marked_behind_walk,
        {# a retry is counted, only its bytes are not #}
        omits_bytes_of_retries
        and metric_name = 'RemoteDeleteLagBytes'
            as omits_bytes_of_retries,
        keeps_negative_after_retry
        and metric_name = 'RemoteDeleteLagBytes'
            as keeps_negative_after_retry,
        keeps_last_value_without_segments and kafka_value <> 0
            as keeps_last_value_without_segments,
        counts_segment_per_epoch,
        counts_straddling_epoch,
        counts_unbreached

    from delete_metrics

)

select * from gauges_reproduced
