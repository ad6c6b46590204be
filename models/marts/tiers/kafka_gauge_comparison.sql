with

gauges as (

    select * from {{ ref('int_tiers__gauges_reproduced') }}

),

tier_lag as (

    select * from {{ ref('tier_lag') }}

),

topics as (

    select * from {{ ref('int_tiers__topics_configured') }}

),

{# null = not known; where copying is switched off nothing waits #}
lags as (

    select
        tier_lag.cluster_id,
        tier_lag.topic_id,
        tier_lag.partition_index,
        tier_lag.topic_name,
        tier_lag.broker_id,
        explode(
            map(
                'RemoteCopyLagBytes',
                if(topics.is_copy_disabled, 0, tier_lag.upload_lag_bytes),
                'RemoteCopyLagSegments',
                if(topics.is_copy_disabled, 0, tier_lag.upload_lag_segments),
                'RemoteDeleteLagBytes', tier_lag.delete_lag_bytes,
                'RemoteDeleteLagSegments', tier_lag.delete_lag_segments
            )
        ) as (metric_name, lag)

    from tier_lag

    left join topics using (cluster_id, topic_id)

),

values_joined as (

    select
        coalesce(gauges.cluster_id, lags.cluster_id) as cluster_id,
        coalesce(gauges.topic_id, lags.topic_id) as topic_id,
        coalesce(gauges.partition_index, lags.partition_index)
            as partition_index,
        coalesce(gauges.metric_name, lags.metric_name) as metric_name,
        coalesce(gauges.topic_name, lags.topic_name) as topic_name,
        coalesce(gauges.broker_id, lags.broker_id) as broker_id,
        gauges.kafka_value,
        lags.lag as moldau_value,
        coalesce(gauges.kafka_value, 0) - lags.lag as difference,
        lags.lag is null as is_lag_unknown,
        gauges.cluster_id is null as has_no_gauge,
        coalesce(gauges.is_stale_until_run_ends, false)
            as is_stale_until_run_ends,
        coalesce(gauges.counts_above_last_stable_offset, false)
            as counts_above_last_stable_offset,
        coalesce(gauges.counts_delayed, false) as counts_delayed,
        coalesce(gauges.counts_below_log_start, false)
            as counts_below_log_start,
        coalesce(gauges.omits_partly_copied, false) as omits_partly_copied,
        coalesce(gauges.waits_for_next_run, false) as waits_for_next_run,
        coalesce(gauges.omits_marked_behind_walk, false)
            as omits_marked_behind_walk,
        coalesce(gauges.omits_bytes_of_retries, false)
            as omits_bytes_of_retries,
        coalesce(gauges.keeps_negative_after_retry, false)
            as keeps_negative_after_retry,
        coalesce(gauges.keeps_last_value_without_segments, false)
            as keeps_last_value_without_segments,
        coalesce(gauges.counts_segment_per_epoch, false)
            as counts_segment_per_epoch,
        coalesce(gauges.counts_straddling_epoch, false)
            as counts_straddling_epoch,
        coalesce(gauges.counts_unbreached, false) as counts_unbreached

    from gauges

    full outer join lags
        on
            gauges.cluster_id = lags.cluster_id
            and gauges.topic_id = lags.topic_id
            and gauges.partition_index = lags.partition_index
            and gauges.metric_name = lags.metric_name

    where
        gauges.cluster_id is not null
        or lags.lag is not null

),

kafka_gauge_comparison as (

    select
        *,
        coalesce(difference = 0, false) as is_equal,
        filter(
            array(
                if(is_lag_unknown, 'is_lag_unknown', null),
                if(has_no_gauge, 'has_no_gauge', null),
                if(is_stale_until_run_ends, 'is_stale_until_run_ends', null),
                if(
                    counts_above_last_stable_offset,
                    'counts_above_last_stable_offset',
                    null
                ),
                if(counts_delayed, 'counts_delayed', null),
                if(counts_below_log_start, 'counts_below_log_start', null),
                if(omits_partly_copied, 'omits_partly_copied', null),
                if(waits_for_next_run, 'waits_for_next_run', null),
                if(omits_marked_behind_walk, 'omits_marked_behind_walk', null),
                if(omits_bytes_of_retries, 'omits_bytes_of_retries', null),
                if(
                    keeps_negative_after_retry,
                    'keeps_negative_after_retry',
                    null
                ),
                if(
                    keeps_last_value_without_segments,
                    'keeps_last_value_without_segments',
                    null
                ),
                if(counts_segment_per_epoch, 'counts_segment_per_epoch', null),
                if(counts_straddling_epoch, 'counts_straddling_epoch', null),
                if(counts_unbreached, 'counts_unbreached', null)
            ),
            cause -> cause is not null and not difference <=> 0
        ) as causes

    from values_joined

)

select * from kafka_gauge_comparison
