with

misses as (

    select * from {{ ref('int_producers__misses_counted') }}

),

metadata_miss_curve as (

    select
        cluster_id,
        producer_id,
        evict_ms,
        is_in_force,
        topics,
        accesses,
        first_accesses,
        misses,
        misses_per_hour,
        mean_cached_topics,
        cached_topic_seconds,
        entries,
        seen_ms

    from misses

)

select * from metadata_miss_curve
