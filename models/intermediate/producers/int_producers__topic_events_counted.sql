with

events as (

    select * from {{ ref('int_producers__topic_events_gathered') }}

),

topic_events_counted as (

    select
        cluster_id,
        producer_id,
        topic_name,
        {{ topic_event_instants() }}

    from events

    group by
        cluster_id,
        producer_id,
        topic_name

)

select * from topic_events_counted
