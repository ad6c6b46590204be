with

replayed as (

    select * from {{ ref('metadata_replay') }}

),

buckets as (

    select * from {{ ref('metadata_replay_by_cluster') }}

),

summed as (

    select
        cluster_id,
        ruleset,
        count(distinct producer_id) as producers,
        sum(requests) as requests,
        sum(topics) as topics,
        sum(bytes) as bytes,
        sum(new_topics) as new_topics,
        sum(notified_topics) as notified_topics,
        sum(stale_topics) as stale_topics,
        sum(fill_topics) as fill_topics,
        sum(oldest_topics) as oldest_topics,
        sum(evictions) as evictions,
        sum(blocking_fetches) as blocking_fetches,
        sum(misses) as misses,
        sum(regrets) as regrets,
        sum(blocked_ms) as blocked_ms,
        sum(wasted_refreshes) as wasted_refreshes,
        max(largest_request) as largest_request,
        max(largest_second_topics) as largest_second_topics,
        {{ mean('sum(refresh_age_ms)', 'sum(refreshes)') }}
            as mean_refresh_age_ms,
        {{ mean('sum(use_age_ms)', 'sum(uses)') }} as mean_use_age_ms,
        sum(uses_over_max_age) as uses_over_max_age

    from replayed

    group by
        cluster_id,
        ruleset

),

peaks as (

    select
        cluster_id,
        ruleset,
        max(bytes) as largest_bucket_bytes,
        {{ mean('max(bytes) * count(*)', 'sum(bytes)') }} as peak_to_mean

    from buckets

    group by
        cluster_id,
        ruleset

),

metadata_replay_totals as (

    select
        summed.*,
        peaks.largest_bucket_bytes,
        peaks.peak_to_mean

    from summed

    inner join peaks using (cluster_id, ruleset)

)

select * from metadata_replay_totals
