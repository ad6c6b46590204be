with

remote_segments as (

    select * from {{ ref('stg_state__remote_segments') }}

),

{# what a failed copy left is gone at once, and says nothing of deletes #}
segments_timed as (

    select
        cluster_id,
        topic_id,
        {{ long_difference('copy_finished_at_ms', 'copy_started_at_ms') }}
            as copy_ms,
        if(
            finished_log_offset is null,
            null,
            {{ long_difference('delete_finished_at_ms', 'delete_started_at_ms') }}
        ) as delete_ms

    from remote_segments

),

clusters_timed as (

    select
        cluster_id,
        percentile_approx(copy_ms, 0.99) as p99_copy_ms,
        percentile_approx(delete_ms, 0.99) as p99_delete_ms

    from segments_timed

    group by cluster_id

),

topics_timed as (

    select
        cluster_id,
        topic_id,
        count(copy_ms) as copies,
        count(delete_ms) as deletions,
        percentile_approx(copy_ms, 0.99) as p99_copy_ms,
        percentile_approx(delete_ms, 0.99) as p99_delete_ms

    from segments_timed

    group by
        cluster_id,
        topic_id

),

{# the 99th percentile of a few is their slowest: it says nothing below 20 #}
segment_times as (

    select
        topics_timed.cluster_id,
        topics_timed.topic_id,
        topics_timed.copies,
        topics_timed.deletions,
        greatest(
            60000,
            if(
                topics_timed.copies >= 20,
                topics_timed.p99_copy_ms,
                clusters_timed.p99_copy_ms
            )
        ) as copy_threshold_ms,
        greatest(
            60000,
            if(
                topics_timed.deletions >= 20,
                topics_timed.p99_delete_ms,
                clusters_timed.p99_delete_ms
            )
        ) as delete_threshold_ms

    from topics_timed

    inner join clusters_timed using (cluster_id)

)

select * from segment_times
