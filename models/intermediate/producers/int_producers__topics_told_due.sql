{{ config(materialized='run_list') }}

with

events as (

    select * from {{ ref('stg_run__producer_events') }}

),

topics as (

    select * from {{ ref('stg_state__producer_topics') }}

),

told as (

    select
        cluster_id,
        producer_id,
        topic_name,
        min(at_ms) as first_at_ms

    from events

    where topic_name <> ''

    group by
        cluster_id,
        producer_id,
        topic_name

),

closed as (

    select distinct
        cluster_id,
        producer_id

    from events

    where event = 'closed'

),

of_closed_producers as (

    select
        topics.cluster_id,
        topics.producer_id,
        topics.topic_name,
        topics.last_event_at_ms is not null as is_late

    from topics

    left semi join closed using (cluster_id, producer_id)

    left anti join told using (cluster_id, producer_id, topic_name)

),

topics_told_due as (

    select
        told.cluster_id,
        told.producer_id,
        told.topic_name,
        {# of what is before a close the rest must be told again, too #}
        coalesce(
            told.first_at_ms <= topics.last_event_at_ms
            or (closed.producer_id is not null and topics.producer_id is not null),
            false
        ) as is_late

    from told

    left join topics using (cluster_id, producer_id, topic_name)

    left join closed
        on
            told.cluster_id = closed.cluster_id
            and told.producer_id = closed.producer_id

    union all

    select
        cluster_id,
        producer_id,
        topic_name,
        is_late

    from of_closed_producers

)

select * from topics_told_due
