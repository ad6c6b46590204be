with

curve as (

    select * from {{ ref('metadata_miss_curve') }}

),

settings as (

    select * from {{ ref('int_producers__settings_in_force') }}

),

{# of an instant alone there is nothing to say, and what may not be set is no advice #}
times as (

    select
        curve.cluster_id,
        curve.producer_id,
        curve.evict_ms,
        settings.least_limit_ms,
        curve.misses_per_hour
        <= cast(coalesce(settings.blocking_fetches_budget, 1) as double)
            as keeps_latency,
        settings.cached_topics_budget is null
        or curve.mean_cached_topics
        <= cast(settings.cached_topics_budget as double) as keeps_memory,
        curve.evict_ms >= settings.sound_limit_ms as is_sound

    from curve

    inner join settings using (cluster_id, producer_id)

    where
        curve.seen_ms > 0
        and curve.evict_ms >= settings.least_limit_ms

),

{# the shortest time that keeps to the latency, the longest that keeps to the memory #}
limits as (

    select
        cluster_id,
        producer_id,
        min(evict_ms) filter (where keeps_latency) as shortest_evict_ms,
        min(evict_ms) filter (where keeps_latency and is_sound)
            as shortest_sound_evict_ms,
        max(evict_ms) filter (where keeps_memory) as longest_evict_ms,
        max(evict_ms) as last_evict_ms,
        max(least_limit_ms) as least_limit_ms

    from times

    group by
        cluster_id,
        producer_id

),

{# memory alone may ask for a time that defeats itself #}
chosen as (

    select
        cluster_id,
        producer_id,
        shortest_evict_ms,
        longest_evict_ms,
        least(
            coalesce(shortest_sound_evict_ms, last_evict_ms),
            coalesce(longest_evict_ms, least_limit_ms)
        ) as recommended_evict_ms

    from limits

),

compared as (

    select
        settings.cluster_id,
        settings.producer_id,
        settings.ruleset,
        settings.idle_limit_ms as evict_ms,
        settings.max_age_ms,
        settings.cached_topics_budget,
        coalesce(settings.blocking_fetches_budget, 1)
            as blocking_fetches_budget,
        chosen.recommended_evict_ms,
        now.misses_per_hour,
        now.mean_cached_topics,
        better.misses_per_hour as expected_misses_per_hour,
        better.mean_cached_topics as expected_mean_cached_topics,
        now.seen_ms,
        case
            when coalesce(now.seen_ms, 0) < settings.idle_limit_ms
                then 'TOO_LITTLE_SEEN'
            when
                coalesce(chosen.shortest_evict_ms > chosen.longest_evict_ms, true)
                then 'BUDGETS_CONFLICT'
            when chosen.recommended_evict_ms > settings.idle_limit_ms
                then 'RAISE'
            when chosen.recommended_evict_ms < settings.idle_limit_ms
                then 'LOWER'
            else 'KEEP'
        end as advice,
        {# what is odd about the settings themselves #}
        case
            when settings.max_age_ms = 0 then 'MAX_AGE_IS_ZERO'
            when settings.idle_limit_ms < settings.cycle_ms
                then 'FORGOTTEN_BEFORE_REFRESHED'
            when settings.idle_limit_ms < 10000 then 'EVICTS_WITHIN_10_SECONDS'
        end as smell

    from settings

    left join chosen using (cluster_id, producer_id)

    left join curve as now
        on
            settings.cluster_id = now.cluster_id
            and settings.producer_id = now.producer_id
            and now.is_in_force

    left join curve as better
        on
            settings.cluster_id = better.cluster_id
            and settings.producer_id = better.producer_id
            and chosen.recommended_evict_ms = better.evict_ms

),

metadata_recommendations as (

    select
        cluster_id,
        producer_id,
        ruleset,
        evict_ms,
        recommended_evict_ms,
        advice,
        smell,
        max_age_ms,
        misses_per_hour,
        expected_misses_per_hour,
        mean_cached_topics,
        expected_mean_cached_topics,
        blocking_fetches_budget,
        cached_topics_budget,
        seen_ms

    from compared

)

select * from metadata_recommendations
