with

due as (

    select * from {{ ref('int_producers__topics_told_due') }}

),

events as (

    select * from {{ ref('stg_run__producer_events') }}

),

all_events as (

    select * from {{ ref('stg_raw__producer_events') }}

),

topics as (

    select * from {{ ref('stg_state__producer_topics') }}

),

closings as (

    select * from {{ ref('int_producers__closings') }}

),

of_the_load as (

    select
        events.cluster_id,
        events.producer_id,
        events.topic_name,
        events.event,
        events.at_ms

    from events

    inner join due using (cluster_id, producer_id, topic_name)

    where not due.is_late

),

of_all_loads as (

    select
        all_events.cluster_id,
        all_events.producer_id,
        all_events.topic_name,
        all_events.event,
        all_events.at_ms

    from all_events

    inner join due using (cluster_id, producer_id, topic_name)

    where due.is_late

),

events_told as (

    select * from of_the_load

    union all

    select * from of_all_loads

),

topic_events_gathered as (

    select
        events_told.cluster_id,
        events_told.producer_id,
        events_told.topic_name,
        events_told.event,
        events_told.at_ms

    from events_told

    left join topics using (cluster_id, producer_id, topic_name)

    left join closings
        on
            events_told.cluster_id = closings.cluster_id
            and events_told.producer_id = closings.producer_id

    where
        events_told.at_ms > coalesce(closings.closed_at_ms, -1)
        {# what moldau forgot stays forgotten #}
        and (
            events_told.event not in (
                'notice', 'requested', 'refreshed', 'topic_error'
            )
            or events_told.at_ms > coalesce(topics.evicted_at_ms, -1)
        )

)

select * from topic_events_gathered
