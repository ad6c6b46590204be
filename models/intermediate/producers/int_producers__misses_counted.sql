with

gaps as (

    select * from {{ ref('int_producers__access_gaps') }}

),

settings as (

    select * from {{ ref('int_producers__settings_in_force') }}

),

producers as (

    select
        cluster_id,
        producer_id,
        count(*) as accesses,
        count(distinct topic_name) as topics,
        count_if(gap_ms is null) as first_accesses,
        min(at_ms) as first_at_ms,
        max(at_ms) as last_at_ms

    from gaps

    group by
        cluster_id,
        producer_id

),

{# what stays cached behind the last access counts until the producer is closed, or the log ends #}
last_accesses as (

    select
        gaps.cluster_id,
        gaps.producer_id,
        gaps.topic_name,
        least(
            coalesce(gaps.closed_at_ms, producers.last_at_ms),
            producers.last_at_ms
        ) - max(gaps.at_ms) as kept_ms,
        false as is_gap

    from gaps

    inner join producers using (cluster_id, producer_id)

    group by
        gaps.cluster_id,
        gaps.producer_id,
        gaps.topic_name,
        gaps.closed_at_ms,
        producers.last_at_ms

),

spans as (

    select
        cluster_id,
        producer_id,
        gap_ms as span_ms,
        true as is_gap

    from gaps

    where gap_ms is not null

    union all

    select
        cluster_id,
        producer_id,
        kept_ms as span_ms,
        is_gap

    from last_accesses

),

histogram as (

    select
        cluster_id,
        producer_id,
        span_ms,
        count_if(is_gap) as gaps,
        count(*) as spans

    from spans

    group by
        cluster_id,
        producer_id,
        span_ms

),

curves as (

    select
        cluster_id,
        producer_id,
        idle_limit_ms,
        strict_ms,
        cycle_ms,
        explode(
            array_distinct(
                flatten(
                    array({{ eviction_times_ms() }}, array(idle_limit_ms))
                )
            )
        ) as evict_ms

    from settings

),

misses as (

    select
        curves.cluster_id,
        curves.producer_id,
        curves.evict_ms,
        curves.idle_limit_ms,
        curves.cycle_ms,
        sum(
            if(
                histogram.span_ms - curves.strict_ms >= curves.evict_ms,
                histogram.gaps,
                0
            )
        ) as misses,
        sum(least(histogram.span_ms, curves.evict_ms) * histogram.spans)
            as cached_topic_ms

    from curves

    inner join histogram using (cluster_id, producer_id)

    group by
        curves.cluster_id,
        curves.producer_id,
        curves.evict_ms,
        curves.idle_limit_ms,
        curves.cycle_ms

),

misses_counted as (

    select
        misses.cluster_id,
        misses.producer_id,
        misses.evict_ms,
        misses.evict_ms = misses.idle_limit_ms as is_in_force,
        producers.topics,
        producers.accesses,
        producers.first_accesses,
        cast(misses.misses as bigint) as misses,
        cast(misses.cached_topic_ms as double) / 1000.0D
            as cached_topic_seconds,
        producers.last_at_ms - producers.first_at_ms as seen_ms,
        cast(misses.misses as double) * 3600000.0D
        / nullif(
            cast(producers.last_at_ms - producers.first_at_ms as double), 0
        ) as misses_per_hour,
        cast(misses.cached_topic_ms as double)
        / nullif(
            cast(producers.last_at_ms - producers.first_at_ms as double), 0
        ) as mean_cached_topics,
        {# while it is cached a topic is refreshed once a cycle, and a miss fetches it #}
        cast(misses.cached_topic_ms as double)
        / nullif(cast(misses.cycle_ms as double), 0)
        + cast(misses.misses + producers.first_accesses as double)
            as entries

    from misses

    inner join producers using (cluster_id, producer_id)

)

select * from misses_counted
