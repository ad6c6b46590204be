{{ config(
    tags='fold_producer_topics',
    unique_key=['cluster_id', 'producer_id'],
    meta={'into': 'state.producers', 'delete_when': 's.is_gone', 'insert_when': 'not s.is_gone'}
) }}

{# before the snapshot is replaced: whose topics change is told by the old one #}
with

topics as (

    select * from {{ ref('int_producers__snapshot_compared') }}

),

producers as (

    select * from {{ ref('stg_state__producers') }}

),

parameters as (

    select * from {{ ref('stg_run__parameters') }}

    where load_kind = 'producer_topics'

),

loaded as (

    select
        cluster_id,
        producer_id,
        max(snapshot_at_ms) as snapshot_at_ms,
        bool_or(not is_unchanged) as is_changed

    from topics

    group by
        cluster_id,
        producer_id

),

stored as (

    select producers.*

    from producers

    inner join parameters
        on array_contains(parameters.cluster_ids, producers.cluster_id)

),

parts as (

    select
        coalesce(loaded.cluster_id, stored.cluster_id) as cluster_id,
        coalesce(loaded.producer_id, stored.producer_id) as producer_id,
        stored.last_failure_at_ms,
        stored.last_non_urgent_at_ms,
        stored.requested_at_ms,
        stored.answered_at_ms,
        stored.closed_event_at_ms,
        stored.last_event_at_ms,
        loaded.snapshot_at_ms,
        if(
            coalesce(loaded.is_changed, false)
            or stored.changed_in_run_id is null,
            parameters.run_id,
            stored.changed_in_run_id
        ) as changed_in_run_id,
        loaded.snapshot_at_ms is null
        and stored.last_event_at_ms is null
        and stored.closed_event_at_ms is null as is_gone

    from loaded

    full outer join stored
        on
            loaded.cluster_id = stored.cluster_id
            and loaded.producer_id = stored.producer_id

    cross join parameters

),

{{ producers_known('parts') }}

select * from producers_known
