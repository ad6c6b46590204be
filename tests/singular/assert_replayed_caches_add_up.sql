-- What became cached and what left the cache is the difference between the ends
-- of two buckets.
with

buckets as (

    select
        *,
        lag(cached_topics) over (
            partition by cluster_id, producer_id, ruleset
            order by bucket_start_ms
        ) as cached_before

    from {{ ref('stg_state__metadata_replay') }}

)

select
    cluster_id,
    producer_id,
    ruleset,
    bucket_start_ms

from buckets

where cached_topics <> cached_before + became_cached - left_cache
