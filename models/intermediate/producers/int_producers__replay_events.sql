with

events as (

    select * from {{ ref('stg_raw__producer_events') }}

),

replay as (

    select * from {{ ref('stg_run__replay') }}

),

parameters as (

    select * from {{ ref('stg_run__parameters') }}

),

replay_events as (

    select
        events.cluster_id,
        events.producer_id,
        events.topic_name,
        events.event,
        events.at_ms,
        events.at_ms < replay.from_at_ms as is_before

    from events

    cross join replay

    cross join parameters

    where
        events.at_ms < replay.to_at_ms
        and array_contains(parameters.cluster_ids, events.cluster_id)

)

select * from replay_events
