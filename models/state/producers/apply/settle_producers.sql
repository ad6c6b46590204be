{{ config(
    tags='apply_metadata',
    unique_key=['cluster_id', 'producer_id'],
    meta={'into': 'state.producers', 'insert_when': false}
) }}

-- depends_on: {{ ref('int_producers__decided') }}
-- depends_on: {{ ref('settle_producer_topics') }}

with

clusters as (

    select * from {{ ref('int_producers__clusters_configured') }}

    where is_applied

),

rounds as (

    select * from {{ ref('int_producers__metadata_rounds_decided') }}

    where fetched_topics > 0 or evicted_topics > 0

),

producers as (

    select * from {{ ref('stg_state__producers') }}

),

parts as (

    select
        producers.cluster_id,
        producers.producer_id,
        producers.last_failure_at_ms,
        if(
            rounds.fetched_non_urgent_topics > 0,
            clusters.decided_at_ms,
            producers.last_non_urgent_at_ms
        ) as last_non_urgent_at_ms,
        if(
            rounds.fetched_topics > 0,
            greatest(producers.requested_at_ms, clusters.decided_at_ms),
            producers.requested_at_ms
        ) as requested_at_ms,
        if(
            rounds.fetched_topics > 0,
            greatest(producers.answered_at_ms, clusters.decided_at_ms),
            producers.answered_at_ms
        ) as answered_at_ms,
        producers.closed_event_at_ms,
        producers.last_event_at_ms,
        producers.snapshot_at_ms,
        clusters.run_id as changed_in_run_id,
        false as is_gone

    from producers

    inner join rounds using (cluster_id, producer_id)

    inner join clusters
        on producers.cluster_id = clusters.cluster_id

),

{{ producers_known('parts') }}

select * from producers_known
