with

segments_shown as (

    select * from {{ ref('int_tiers__copy_segments_shown') }}

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

    from segments_shown

),

copy_segments_counted as (

    select
        cluster_id,
        topic_id,
        partition_index,
        base_offset,
        broker_id,
        topic_name,
        is_eligible,
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

)

select * from copy_segments_counted
