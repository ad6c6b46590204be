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
        filter(
            flatten(
                array(
                    coalesce(gauges.causes, cast(array() as array<string>)),
                    array(
                        if(lags.lag is null, 'is_lag_unknown', null),
                        if(gauges.cluster_id is null, 'has_no_gauge', null)
                    )
                )
            ),
            name -> name is not null
        ) as causes_found

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
        cluster_id,
        topic_id,
        partition_index,
        metric_name,
        topic_name,
        broker_id,
        kafka_value,
        moldau_value,
        difference,
        array_contains(causes_found, 'is_lag_unknown') as is_lag_unknown,
        array_contains(causes_found, 'has_no_gauge') as has_no_gauge,
        array_contains(causes_found, 'is_stale_until_run_ends') as is_stale_until_run_ends,
        array_contains(causes_found, 'counts_above_last_stable_offset')
            as counts_above_last_stable_offset,
        array_contains(causes_found, 'counts_delayed') as counts_delayed,
        array_contains(causes_found, 'counts_below_log_start') as counts_below_log_start,
        array_contains(causes_found, 'omits_partly_copied') as omits_partly_copied,
        array_contains(causes_found, 'waits_for_next_run') as waits_for_next_run,
        array_contains(causes_found, 'omits_marked_behind_walk') as omits_marked_behind_walk,
        array_contains(causes_found, 'omits_bytes_of_retries') as omits_bytes_of_retries,
        array_contains(causes_found, 'keeps_negative_after_retry')
            as keeps_negative_after_retry,
        array_contains(causes_found, 'keeps_last_value_without_segments')
            as keeps_last_value_without_segments,
        array_contains(causes_found, 'counts_segment_per_epoch') as counts_segment_per_epoch,
        array_contains(causes_found, 'counts_straddling_epoch') as counts_straddling_epoch,
        array_contains(causes_found, 'counts_unbreached') as counts_unbreached,
        coalesce(difference = 0, false) as is_equal,
        {# in this order #}
        filter(
            array(
                'is_lag_unknown',
                'has_no_gauge',
                'is_stale_until_run_ends',
                'counts_above_last_stable_offset',
                'counts_delayed',
                'counts_below_log_start',
                'omits_partly_copied',
                'waits_for_next_run',
                'omits_marked_behind_walk',
                'omits_bytes_of_retries',
                'keeps_negative_after_retry',
                'keeps_last_value_without_segments',
                'counts_segment_per_epoch',
                'counts_straddling_epoch',
                'counts_unbreached'
            ),
            cause -> array_contains(causes_found, cause) and not difference <=> 0
        ) as causes

    from values_joined

)

select * from kafka_gauge_comparison
