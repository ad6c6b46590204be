with

events as (

    select * from {{ ref('stg_raw__producer_events') }}

),

happened as (

    select distinct
        cluster_id,
        producer_id,
        topic_name,
        at_ms,
        false as is_closing

    from events

    where event in ('access', 'demand')

    union all

    select distinct
        cluster_id,
        producer_id,
        '' as topic_name,
        at_ms,
        true as is_closing

    from events

    where event = 'closed'

),

{# at one instant a producer is closed last, as in a replay #}
ended as (

    select
        cluster_id,
        producer_id,
        topic_name,
        at_ms,
        is_closing,
        min(if(is_closing, at_ms, null)) over (
            partition by cluster_id, producer_id
            order by at_ms desc, is_closing desc
            rows between unbounded preceding and current row
        ) as closed_at_ms

    from happened

),

{# a producer that was closed in between has begun anew #}
access_gaps as (

    select
        cluster_id,
        producer_id,
        topic_name,
        at_ms,
        closed_at_ms,
        at_ms - lag(at_ms) over (
            partition by cluster_id, producer_id, topic_name, closed_at_ms
            order by at_ms
        ) as gap_ms

    from ended

    where not is_closing

)

select * from access_gaps
