{{ config(
    tags='fold_producer_events',
    unique_key=['cluster_id', 'producer_id'],
    meta={'into': 'state.producers', 'insert_when': 'not s.is_gone'}
) }}

-- depends_on: {{ ref('fold_producer_topics') }}

with

events as (

    select * from {{ ref('stg_run__producer_events') }}

),

stored as (

    select * from {{ ref('stg_state__producers') }}

),

latest as (

    select
        cluster_id,
        producer_id,
        max(at_ms) filter (
            where event in ('request_failed', 'topic_error')
        ) as last_failure_at_ms,
        max(at_ms) filter (where event = 'requested') as requested_at_ms,
        max(at_ms) filter (
            where event in ('refreshed', 'topic_error', 'request_failed')
        ) as answered_at_ms,
        max(at_ms) filter (where event = 'closed') as closed_event_at_ms,
        max(at_ms) filter (where event <> 'closed') as last_event_at_ms,
        max(run_id) as changed_in_run_id

    from events

    group by
        cluster_id,
        producer_id

),

parts as (

    select
        latest.cluster_id,
        latest.producer_id,
        greatest(latest.last_failure_at_ms, stored.last_failure_at_ms)
            as last_failure_at_ms,
        stored.last_non_urgent_at_ms,
        greatest(latest.requested_at_ms, stored.requested_at_ms)
            as requested_at_ms,
        greatest(latest.answered_at_ms, stored.answered_at_ms)
            as answered_at_ms,
        greatest(latest.closed_event_at_ms, stored.closed_event_at_ms)
            as closed_event_at_ms,
        greatest(latest.last_event_at_ms, stored.last_event_at_ms)
            as last_event_at_ms,
        {{ after_closing(
            'stored.snapshot_at_ms',
            'greatest(latest.closed_event_at_ms, stored.closed_event_at_ms)'
        ) }} as snapshot_at_ms,
        latest.changed_in_run_id,
        false as is_gone

    from latest

    left join stored using (cluster_id, producer_id)

),

{{ producers_known('parts') }}

select * from producers_known
