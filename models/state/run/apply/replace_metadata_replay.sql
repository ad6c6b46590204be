{{ config(
    meta={'into': 'state.metadata_replay', 'write': 'replace'}
) }}

with

replayed as (

    select * from {{ ref('stg_run__metadata_replay') }}

),

of_all_clusters as (

    select * from {{ ref('stg_state__metadata_replay') }}

),

parameters as (

    select * from {{ ref('stg_run__parameters') }}

),

of_others as (

    select of_all_clusters.*

    from of_all_clusters

    cross join parameters

    where
        not array_contains(
            parameters.cluster_ids, of_all_clusters.cluster_id
        )

),

replaced as (

    select
        cluster_id,
        producer_id,
        ruleset,
        bucket_start_ms,
        requests,
        topics,
        bytes,
        evictions,
        blocking_fetches,
        largest_request,
        request_topics_p50,
        request_topics_p99,
        request_bytes,
        overhead_bytes,
        new_topics,
        notified_topics,
        stale_topics,
        fill_topics,
        oldest_topics,
        failed_requests,
        misses,
        first_misses,
        regrets,
        blocked_ms,
        blocked_ms_max,
        wasted_refreshes,
        idle_topic_ms,
        refreshes,
        refresh_age_ms,
        refresh_age_ms_max,
        refreshes_over_max_age,
        uses,
        use_age_ms,
        use_age_ms_max,
        uses_over_max_age,
        became_cached,
        left_cache,
        cached_topics,
        cached_partitions,
        cached_bytes,
        cached_topic_ms,
        largest_second_topics,
        largest_second_bytes,
        largest_second_at_ms,
        bucket_ms,
        run_id

    from replayed

    union all

    select
        cluster_id,
        producer_id,
        ruleset,
        bucket_start_ms,
        requests,
        topics,
        bytes,
        evictions,
        blocking_fetches,
        largest_request,
        request_topics_p50,
        request_topics_p99,
        request_bytes,
        overhead_bytes,
        new_topics,
        notified_topics,
        stale_topics,
        fill_topics,
        oldest_topics,
        failed_requests,
        misses,
        first_misses,
        regrets,
        blocked_ms,
        blocked_ms_max,
        wasted_refreshes,
        idle_topic_ms,
        refreshes,
        refresh_age_ms,
        refresh_age_ms_max,
        refreshes_over_max_age,
        uses,
        use_age_ms,
        use_age_ms_max,
        uses_over_max_age,
        became_cached,
        left_cache,
        cached_topics,
        cached_partitions,
        cached_bytes,
        cached_topic_ms,
        largest_second_topics,
        largest_second_bytes,
        largest_second_at_ms,
        bucket_ms,
        run_id

    from of_others

)

select * from replaced
