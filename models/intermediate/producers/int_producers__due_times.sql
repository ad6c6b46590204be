with

topics as (

    select * from {{ ref('int_producers__topics_aged') }}

),

producers as (

    select * from {{ ref('int_producers__producers_configured') }}

),

of_topics as (

    select
        cluster_id,
        producer_id,
        topic_name,
        explode(array(forgettable_at_ms, aging_at_ms, stale_at_ms)) as due_at_ms

    from topics

),

{# what the producer waits for matters to all of its topics #}
of_producers as (

    select
        cluster_id,
        producer_id,
        cast(null as string) as topic_name,
        explode(
            array(
                try_add(last_failure_at_ms, retry_backoff_ms),
                try_add(last_non_urgent_at_ms, pace_ms)
            )
        ) as due_at_ms

    from producers

),

every_one as (

    select * from of_topics

    union all

    select * from of_producers

),

{# where a subset is requested, a topic competes with others once it is in U #}
asked_about as (

    select
        cluster_id,
        producer_id,
        topic_name,
        if(topics_requested = 'subset', aging_at_ms, decided_at_ms)
            as others_matter_from_ms

    from topics

    union all

    select
        cluster_id,
        producer_id,
        '' as topic_name,
        decided_at_ms as others_matter_from_ms

    from producers

),

due_times as (

    select distinct
        asked_about.cluster_id,
        asked_about.producer_id,
        asked_about.topic_name,
        every_one.due_at_ms

    from asked_about

    inner join every_one
        on
            asked_about.cluster_id = every_one.cluster_id
            and asked_about.producer_id = every_one.producer_id

    where
        every_one.due_at_ms is not null
        and (
            every_one.topic_name is null
            or every_one.topic_name = asked_about.topic_name
            or every_one.due_at_ms >= asked_about.others_matter_from_ms
        )

)

select * from due_times
