with

topics as (

    select * from {{ ref('stg_state__producer_topics') }}

),

due as (

    select * from {{ ref('int_producers__producers_due') }}

),

configured as (

    select * from {{ ref('int_producers__producers_configured') }}

),

producers as (

    select configured.*

    from configured

    left semi join due using (cluster_id, producer_id)

),

ages as (

    select
        topics.cluster_id,
        topics.producer_id,
        topics.topic_name,
        topics.last_access_at_ms,
        topics.last_refresh_at_ms,
        topics.has_demand,
        topics.notified_at_ms,
        topics.is_in_error,
        {# what a snapshot has may have been known for long #}
        coalesce(
            greatest(
                if(
                    topics.snapshot_at_ms is null,
                    topics.first_event_at_ms,
                    null
                ),
                topics.evicted_at_ms
            ) > producers.last_failure_at_ms,
            false
        ) as is_newer_than_failure,
        topics.last_refresh_at_ms is not null as was_cached,
        producers.decided_at_ms - topics.last_refresh_at_ms as age_ms,
        if(
            producers.idle_from = 'access' or topics.last_refresh_at_ms is null,
            topics.last_access_at_ms,
            topics.idle_since_at_ms
        ) as idle_since_at_ms,
        producers.max_age_ms,
        {# half of it, rounded up: 2 * age >= max age without the product #}
        producers.max_age_ms - producers.max_age_ms div 2 as half_age_ms,
        {# a limit may be the largest number: what is past it never comes #}
        try_add(
            producers.idle_limit_ms, if(producers.evict_strict, 1, 0)
        ) as forgettable_after_ms,
        producers.topics_requested,
        producers.topics_requested = 'subset'
        and coalesce(producers.held_by, '')
        not in ('CLOSED', 'REQUEST_IN_FLIGHT') as forgets_first,
        producers.decided_at_ms

    from topics

    inner join producers using (cluster_id, producer_id)

),

idle as (

    select
        *,
        coalesce(
            decided_at_ms - idle_since_at_ms >= forgettable_after_ms,
            false
        )
        and (was_cached or not has_demand) as is_forgettable

    from ages

),

forgotten as (

    select
        *,
        is_forgettable and forgets_first as is_forgotten,
        was_cached and not (is_forgettable and forgets_first) as is_cached

    from idle

),

topics_aged as (

    select
        cluster_id,
        producer_id,
        topic_name,
        last_access_at_ms,
        last_refresh_at_ms,
        has_demand,
        was_cached,
        is_forgettable,
        is_forgotten,
        is_cached,
        has_demand and not is_cached as is_waiting,
        is_in_error,
        is_newer_than_failure,
        notified_at_ms is not null and not is_forgotten as is_notified,
        is_cached and age_ms >= max_age_ms as is_stale,
        is_cached and age_ms >= half_age_ms as is_aging,
        try_add(idle_since_at_ms, forgettable_after_ms) as forgettable_at_ms,
        try_add(last_refresh_at_ms, half_age_ms) as aging_at_ms,
        try_add(last_refresh_at_ms, max_age_ms) as stale_at_ms,
        topics_requested,
        decided_at_ms

    from forgotten

)

select * from topics_aged
