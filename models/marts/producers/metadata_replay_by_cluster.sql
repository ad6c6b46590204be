with

replayed as (

    select * from {{ ref('metadata_replay') }}

),

metadata_replay_by_cluster as (

    select
        cluster_id,
        ruleset,
        bucket_start_ms,
        bucket_ms,
        count(*) as producers,
        sum(requests) as requests,
        sum(topics) as topics,
        sum(bytes) as bytes,
        sum(evictions) as evictions,
        sum(blocking_fetches) as blocking_fetches,
        sum(blocked_ms) as blocked_ms,
        sum(regrets) as regrets,
        sum(wasted_refreshes) as wasted_refreshes,
        max(largest_request) as largest_request,
        sum(cached_topics) as cached_topics,
        sum(cached_bytes) as cached_bytes,
        max(bytes) as largest_producer_bytes,
        bucket_start_at

    from replayed

    group by
        cluster_id,
        ruleset,
        bucket_start_ms,
        bucket_ms,
        bucket_start_at

)

select * from metadata_replay_by_cluster
