with

copy_segments_shown as (

    select * from {{ ref('int_tiers__copy_segments_shown') }}

),

delete_segments as (

    select * from {{ ref('int_tiers__delete_segments_counted') }}

),

segments_copied as (

    select
        *,
        {# a topic whose copying is switched off has its gauges set to zero #}
        coalesce(
            base_offset > copied_offset
            and coalesce(reason_code <> 'COPY_DISABLED', true)
            and (shown_since_ms is null or closed_at_ms <= shown_since_ms),
            false
        ) as is_counted

    from copy_segments_shown

),

copy_segments as (

    select
        cluster_id,
        topic_id,
        partition_index,
        broker_id,
        topic_name,
        if(is_counted, 1, 0) as lag_segments,
        if(is_counted, size_bytes, 0) as lag_bytes,
        filter(
            array(
                if(is_open and is_counted <> is_eligible, 'is_stale_until_run_ends', null),
                if(
                    is_counted and reason_code = 'ABOVE_LAST_STABLE_OFFSET',
                    'counts_above_last_stable_offset',
                    null
                ),
                if(is_counted and reason_code = 'DELAYED', 'counts_delayed', null),
                if(is_counted and reason_code = 'BELOW_LOG_START', 'counts_below_log_start', null),
                if(is_eligible and not is_counted and not is_open, 'omits_partly_copied', null)
            ),
            cause -> cause is not null
        ) as causes

    from segments_copied

),

copy_gauges as (

    select
        cluster_id,
        topic_id,
        partition_index,
        topic_name,
        broker_id,
        sum(lag_bytes) as lag_bytes,
        sum(lag_segments) as lag_segments,
        array_distinct(flatten(collect_list(causes))) as causes

    from copy_segments

    group by
        cluster_id,
        topic_id,
        partition_index,
        topic_name,
        broker_id

),

delete_gauges as (

    select
        cluster_id,
        topic_id,
        partition_index,
        topic_name,
        broker_id,
        segments_live,
        coalesce(sum(lag_bytes), 0) as lag_bytes,
        coalesce(sum(lag_segments), 0) as lag_segments,
        array_distinct(flatten(collect_list(causes))) as causes

    from delete_segments

    group by
        cluster_id,
        topic_id,
        partition_index,
        topic_name,
        broker_id,
        segments_live

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
        causes

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
        {# a retry is counted, only its bytes are not; without a segment Kafka
           writes nothing, and the last value stays #}
        filter(
            flatten(array(causes, array('keeps_last_value_without_segments'))),
            cause -> case
                when cause in ('omits_bytes_of_retries', 'keeps_negative_after_retry')
                    then metric_name = 'RemoteDeleteLagBytes'
                when cause = 'keeps_last_value_without_segments'
                    then segments_live = 0 and kafka_value <> 0
                else true
            end
        ) as causes

    from delete_metrics

)

select * from gauges_reproduced
