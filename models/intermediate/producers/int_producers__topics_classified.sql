with

topics as (

    select * from {{ ref('int_producers__topics_aged') }}

),

producers as (

    select * from {{ ref('int_producers__producers_measured') }}

),

clauses as (

    select
        topics.*,
        producers.asks_for_all,
        case
            when topics.is_waiting then 'NEW'
            when topics.is_notified then 'NOTIFIED'
            when
                topics.is_stale
                or (producers.is_stale_as_a_whole and topics.is_cached)
                then 'STALE'
        end as clause

    from topics

    inner join producers using (cluster_id, producer_id)

),

topics_classified as (

    select
        cluster_id,
        producer_id,
        topic_name,
        clause,
        case
            when clause is not null then 'T'
            when asks_for_all then 'U'
            when topics_requested = 'subset' and is_aging then 'U'
        end as topic_set,
        last_access_at_ms,
        last_refresh_at_ms,
        has_demand,
        is_forgettable,
        is_forgotten,
        is_cached,
        asks_for_all,
        {# of what is forgotten, or waits already, time changes nothing #}
        least(
            if(
                forgettable_at_ms > decided_at_ms
                and (is_cached or not has_demand),
                forgettable_at_ms,
                null
            ),
            if(is_cached and aging_at_ms > decided_at_ms, aging_at_ms, null),
            if(is_cached and stale_at_ms > decided_at_ms, stale_at_ms, null)
        ) as next_due_at_ms,
        decided_at_ms

    from clauses

)

select * from topics_classified
