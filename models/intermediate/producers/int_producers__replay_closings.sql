with

events as (

    select * from {{ ref('int_producers__replay_events') }}

    where is_before

),

replay_closings as (

    select
        cluster_id,
        producer_id,
        max(at_ms) filter (where event = 'closed') as closed_at_ms,
        max(at_ms) filter (
            where event in ('request_failed', 'topic_error')
        ) as failed_at_ms

    from events

    group by
        cluster_id,
        producer_id

)

select * from replay_closings
