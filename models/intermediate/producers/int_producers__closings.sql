with

events as (

    select
        cluster_id,
        producer_id,
        at_ms as closed_at_ms

    from {{ ref('stg_run__producer_events') }}

    where event = 'closed'

),

producers as (

    select
        cluster_id,
        producer_id,
        closed_event_at_ms as closed_at_ms

    from {{ ref('stg_state__producers') }}

    where closed_event_at_ms is not null

),

told as (

    select * from events

    union all

    select * from producers

),

closings as (

    select
        cluster_id,
        producer_id,
        max(closed_at_ms) as closed_at_ms

    from told

    group by
        cluster_id,
        producer_id

)

select * from closings
