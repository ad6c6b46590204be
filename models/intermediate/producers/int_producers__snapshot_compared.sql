with

snapshot as (

    select * from {{ ref('stg_run__producer_topics') }}

),

topics as (

    select * from {{ ref('stg_state__producer_topics') }}

),

closings as (

    select * from {{ ref('int_producers__closings') }}

),

parameters as (

    select * from {{ ref('stg_run__parameters') }}

    where load_kind = 'producer_topics'

),

loaded as (

    select
        *,
        {# else each row is as of its latest instant #}
        coalesce(
            taken_at_ms,
            greatest(last_access_at_ms, last_refresh_at_ms, notified_at_ms)
        ) as snapshot_at_ms

    from snapshot

),

loaded_in_force as (

    select loaded.*

    from loaded

    left join closings using (cluster_id, producer_id)

    where loaded.snapshot_at_ms > coalesce(closings.closed_at_ms, -1)

),

taken as (

    select
        cluster_id,
        max(taken_at_ms) as taken_at_ms

    from loaded

    group by cluster_id

),

stored as (

    select topics.*

    from topics

    inner join parameters
        on array_contains(parameters.cluster_ids, topics.cluster_id)

),

parts as (

    select
        coalesce(loaded.cluster_id, stored.cluster_id) as cluster_id,
        coalesce(loaded.producer_id, stored.producer_id) as producer_id,
        coalesce(loaded.topic_name, stored.topic_name) as topic_name,
        loaded.partition_count,
        loaded.snapshot_at_ms,
        loaded.taken_at_ms as snapshot_taken_at_ms,
        loaded.last_access_at_ms as snapshot_access_at_ms,
        loaded.last_refresh_at_ms as snapshot_refresh_at_ms,
        loaded.has_demand as snapshot_has_demand,
        loaded.notified_at_ms as snapshot_notified_at_ms,
        stored.access_at_ms,
        stored.demand_at_ms,
        stored.demand_ended_at_ms,
        stored.notice_at_ms,
        stored.requested_at_ms,
        stored.refreshed_at_ms,
        stored.error_at_ms,
        stored.answered_request_at_ms,
        stored.refreshed_after_access_at_ms,
        stored.first_event_at_ms,
        stored.last_event_at_ms,
        stored.evicted_at_ms,
        parameters.run_id,
        loaded.run_id is null
        and coalesce(
            stored.last_event_at_ms <= taken.taken_at_ms,
            stored.last_event_at_ms is null
        ) as is_gone

    from loaded_in_force as loaded

    full outer join stored
        on
            loaded.cluster_id = stored.cluster_id
            and loaded.producer_id = stored.producer_id
            and loaded.topic_name = stored.topic_name

    left join taken
        on coalesce(loaded.cluster_id, stored.cluster_id) = taken.cluster_id

    cross join parameters

),

{{ topics_known('parts') }},

snapshot_compared as (

    select
        topics_known.*,
        stored.changed_in_run_id as stored_in_run_id,
        coalesce(
            not topics_known.is_gone
            and topics_known.last_access_at_ms = stored.last_access_at_ms
            and topics_known.last_refresh_at_ms <=> stored.last_refresh_at_ms
            and topics_known.has_demand = stored.has_demand
            and topics_known.notified_at_ms <=> stored.notified_at_ms
            and topics_known.idle_since_at_ms <=> stored.idle_since_at_ms
            and topics_known.is_in_error = stored.is_in_error
            and topics_known.partition_count <=> stored.partition_count,
            false
        ) as is_unchanged

    from topics_known

    left join stored using (cluster_id, producer_id, topic_name)

)

select * from snapshot_compared
