with

stored as (

    select * from {{ ref('stg_state__source_topics') }}

),

loaded as (

    select * from {{ ref('stg_run__partition_states') }}

),

snapshots as (

    select * from {{ ref('stg_raw__partition_states') }}

),

flows as (

    select * from {{ ref('int_mirrors__flows_configured') }}

),

sightings as (

    select
        cluster_id,
        topic_name,
        topic_id,
        first_seen_at_ms,
        last_seen_at_ms,
        first_seen_at_ms as stored_first_seen_at_ms,
        last_seen_at_ms as stored_last_seen_at_ms

    from stored

    union all

    select
        loaded.cluster_id,
        loaded.topic_name,
        loaded.topic_id,
        loaded.taken_at_ms as first_seen_at_ms,
        loaded.taken_at_ms as last_seen_at_ms,
        null as stored_first_seen_at_ms,
        null as stored_last_seen_at_ms

    from loaded

    left semi join flows on loaded.cluster_id = flows.source_cluster_id

    union all

    {# what was loaded before there was a flow of the cluster #}
    select
        snapshots.cluster_id,
        snapshots.topic_name,
        snapshots.topic_id,
        snapshots.taken_at_ms as first_seen_at_ms,
        snapshots.taken_at_ms as last_seen_at_ms,
        null as stored_first_seen_at_ms,
        null as stored_last_seen_at_ms

    from snapshots

    left semi join flows
        on
            snapshots.cluster_id = flows.source_cluster_id
            and flows.is_refolded

),

source_topics_seen as (

    select
        cluster_id,
        topic_name,
        topic_id,
        min(first_seen_at_ms) as first_seen_at_ms,
        max(last_seen_at_ms) as last_seen_at_ms,
        min(stored_first_seen_at_ms) as stored_first_seen_at_ms,
        max(stored_last_seen_at_ms) as stored_last_seen_at_ms

    from sightings

    where topic_id is not null

    group by
        cluster_id,
        topic_name,
        topic_id

)

select * from source_topics_seen
