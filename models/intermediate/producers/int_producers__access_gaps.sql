with

accesses as (

    select distinct
        cluster_id,
        producer_id,
        topic_name,
        at_ms

    from {{ ref('stg_raw__producer_events') }}

    where event in ('access', 'demand')

),

producers as (

    select * from {{ ref('stg_state__producers') }}

),

ordered as (

    select
        cluster_id,
        producer_id,
        topic_name,
        at_ms,
        lag(at_ms) over (
            partition by cluster_id, producer_id, topic_name
            order by at_ms
        ) as previous_at_ms

    from accesses

),

{# a producer that was closed in between has begun anew #}
access_gaps as (

    select
        ordered.cluster_id,
        ordered.producer_id,
        ordered.topic_name,
        ordered.at_ms,
        if(
            coalesce(
                producers.closed_event_at_ms >= ordered.previous_at_ms
                and producers.closed_event_at_ms < ordered.at_ms,
                false
            ),
            null,
            ordered.at_ms - ordered.previous_at_ms
        ) as gap_ms

    from ordered

    left join producers using (cluster_id, producer_id)

)

select * from access_gaps
