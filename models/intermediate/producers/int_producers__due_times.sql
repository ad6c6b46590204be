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

of_producers as (

    select
        cluster_id,
        producer_id,
        explode(
            array(
                try_add(last_failure_at_ms, retry_backoff_ms),
                try_add(last_non_urgent_at_ms, pace_ms)
            )
        ) as due_at_ms

    from producers

),

every_one as (

    select
        cluster_id,
        producer_id,
        due_at_ms

    from of_topics

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

of_others as (

    select
        asked_about.cluster_id,
        asked_about.producer_id,
        asked_about.topic_name,
        every_one.due_at_ms

    from asked_about

    inner join every_one
        on
            asked_about.cluster_id = every_one.cluster_id
            and asked_about.producer_id = every_one.producer_id
            and asked_about.others_matter_from_ms <= every_one.due_at_ms

),

of_waits as (

    select
        topics.cluster_id,
        topics.producer_id,
        topics.topic_name,
        of_producers.due_at_ms

    from topics

    inner join of_producers using (cluster_id, producer_id)

),

together as (

    select * from of_topics

    union all

    select * from of_others

    union all

    select * from of_waits

),

due_times as (

    select distinct
        cluster_id,
        producer_id,
        topic_name,
        due_at_ms

    from together

    where due_at_ms is not null

)

select * from due_times
