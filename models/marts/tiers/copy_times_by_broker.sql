with

remote_segments as (

    select * from {{ ref('stg_state__remote_segments') }}

),

copies_timed as (

    select
        cluster_id,
        started_broker_id as broker_id,
        topic_name,
        size_bytes,
        finished_log_offset is not null as is_copied,
        segment_state = 'COPY_SEGMENT_STARTED' as is_copying,
        copy_finished_at_ms,
        {{ long_difference('copy_finished_at_ms', 'copy_started_at_ms') }}
            as copy_ms

    from remote_segments

),

copy_times as (

    select
        cluster_id,
        broker_id,
        topic_name,
        count_if(is_copied) as copies,
        count_if(not is_copied and not is_copying) as failed_copies,
        count_if(is_copying) as copies_in_progress,
        percentile_approx(copy_ms, 0.5) as p50_copy_ms,
        percentile_approx(copy_ms, 0.99) as p99_copy_ms,
        sum(if(is_copied, size_bytes, 0)) as copied_bytes,
        1000 * try_divide(sum(if(is_copied, size_bytes, 0)), {{ long_sum('copy_ms') }})
            as bytes_per_second,
        max(copy_finished_at_ms) as last_copied_at_ms

    from copies_timed

    group by
        cluster_id,
        broker_id,
        topic_name

),

copy_times_by_broker as (

    select
        cluster_id,
        broker_id,
        topic_name,
        copies,
        failed_copies,
        copies_in_progress,
        p50_copy_ms,
        p99_copy_ms,
        copied_bytes,
        bytes_per_second,
        {{ instant('last_copied_at_ms') }} as last_copied_at

    from copy_times

)

select * from copy_times_by_broker
