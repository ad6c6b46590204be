{{ config(materialized='run_list') }}

with

topics as (

    select * from {{ ref('int_producers__topics_aged') }}

),

producers as (

    select
        *,
        target_factor as factor

    from {{ ref('int_producers__producers_configured') }}

),

counted as (

    select
        cluster_id,
        producer_id,
        count_if(is_cached) as cached_topics,
        bool_or(is_waiting) as has_waiting,
        bool_or(is_waiting and is_in_error) as has_waiting_in_error,
        bool_or(is_waiting and not is_in_error and is_newer_than_failure)
            as has_new_since_failure,
        bool_or(is_notified) as has_notified,
        bool_or(is_stale) as has_stale

    from topics

    group by
        cluster_id,
        producer_id

),

producers_measured as (

    select
        counted.cluster_id,
        counted.producer_id,
        counted.cached_topics,
        if(
            producers.topics_requested = 'subset',
            {{ target_fetch_size(
                'counted.cached_topics',
                'producers.evict_ms',
                'producers.factor'
            ) }},
            null
        ) as target_fetch_size,
        {# Kafka sends at once what it did not know when it failed #}
        producers.topics_requested <> 'subset'
        and counted.has_new_since_failure as cuts_back_off,
        {# one clock for the whole cache: its oldest topic #}
        producers.topics_requested <> 'subset'
        and counted.has_stale as is_stale_as_a_whole,
        producers.topics_requested <> 'subset'
        and (
            counted.has_notified
            or counted.has_stale
            or if(
                producers.topics_requested = 'all',
                counted.has_waiting,
                counted.has_waiting_in_error
            )
        ) as asks_for_all

    from counted

    inner join producers using (cluster_id, producer_id)

)

select * from producers_measured
