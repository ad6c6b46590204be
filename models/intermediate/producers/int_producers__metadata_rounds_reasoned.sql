with

due as (

    select * from {{ ref('int_producers__producers_due') }}

),

configured as (

    select * from {{ ref('int_producers__producers_configured') }}

),

sized as (

    select * from {{ ref('int_producers__requests_sized') }}

),

topics as (

    select * from {{ ref('int_producers__metadata_topics_reasoned') }}

),

producers as (

    select
        configured.* except (held_by),
        if(sized.producer_id is null, configured.held_by, sized.held_by)
            as held_by,
        sized.cached_topics,
        sized.target_fetch_size,
        sized.urgent_topics,
        sized.non_urgent_topics,
        sized.pace_ends_at_ms

    from configured

    left semi join due using (cluster_id, producer_id)

    left join sized
        on
            configured.cluster_id = sized.cluster_id
            and configured.producer_id = sized.producer_id

),

counted as (

    select
        cluster_id,
        producer_id,
        count(fetch_rank) as fetched_topics,
        count_if(fetch_rank is not null and topic_set = 'U')
            as fetched_non_urgent_topics,
        count_if(decision in ('evict', 'evict_and_fetch')) as evicted_topics,
        min(next_due_at_ms) as next_due_at_ms

    from topics

    group by
        cluster_id,
        producer_id

),

metadata_rounds_reasoned as (

    select
        producers.cluster_id,
        producers.producer_id,
        producers.run_id,
        producers.ruleset,
        producers.settings_hash,
        if(counted.fetched_topics > 0, 'fetch', 'wait') as decision,
        coalesce(
            producers.held_by,
            if(counted.fetched_topics > 0, 'FETCH', 'NOTHING_DUE')
        ) as reason_code,
        producers.decided_at_ms,
        coalesce(producers.cached_topics, 0) as cached_topics,
        {# of a producer that caches nothing #}
        coalesce(
            producers.target_fetch_size,
            if(producers.topics_requested = 'subset', 20, null)
        ) as target_fetch_size,
        producers.rule_mode as fetch_mode,
        coalesce(producers.urgent_topics, 0) as urgent_topics,
        coalesce(producers.non_urgent_topics, 0) as non_urgent_topics,
        coalesce(counted.fetched_topics, 0) as fetched_topics,
        coalesce(counted.fetched_non_urgent_topics, 0)
            as fetched_non_urgent_topics,
        coalesce(counted.evicted_topics, 0) as evicted_topics,
        least(
            counted.next_due_at_ms,
            if(
                producers.held_by = 'BACKING_OFF',
                try_add(
                    producers.last_failure_at_ms, producers.retry_backoff_ms
                ),
                null
            ),
            producers.pace_ends_at_ms
        ) as next_due_at_ms

    from producers

    left join counted using (cluster_id, producer_id)

)

select * from metadata_rounds_reasoned
