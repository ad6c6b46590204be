with

due as (

    select * from {{ ref('int_producers__topics_told_due') }}

),

topics as (

    select * from {{ ref('stg_state__producer_topics') }}

),

events as (

    select * from {{ ref('int_producers__topic_events_counted') }}

),

closings as (

    select * from {{ ref('int_producers__closings') }}

),

snapshots as (

    select
        cluster_id,
        max(snapshot_taken_at_ms) as taken_at_ms

    from topics

    group by cluster_id

),

parameters as (

    select * from {{ ref('stg_run__parameters') }}

),

{# what is stored, but for what was before the producer was closed #}
stored as (

    select
        due.cluster_id,
        due.producer_id,
        due.topic_name,
        topics.partition_count,
        coalesce(topics.snapshot_at_ms > coalesce(closings.closed_at_ms, -1), false)
            as is_in_snapshot,
        topics.snapshot_at_ms,
        topics.snapshot_taken_at_ms,
        topics.snapshot_access_at_ms,
        topics.snapshot_refresh_at_ms,
        topics.snapshot_has_demand,
        topics.snapshot_notified_at_ms,
        {{ after_closing('topics.access_at_ms', 'closings.closed_at_ms') }}
            as access_at_ms,
        {{ after_closing('topics.demand_at_ms', 'closings.closed_at_ms') }}
            as demand_at_ms,
        {{ after_closing('topics.demand_ended_at_ms', 'closings.closed_at_ms') }}
            as demand_ended_at_ms,
        {{ after_closing('topics.notice_at_ms', 'closings.closed_at_ms') }}
            as notice_at_ms,
        {{ after_closing('topics.requested_at_ms', 'closings.closed_at_ms') }}
            as requested_at_ms,
        {{ after_closing('topics.refreshed_at_ms', 'closings.closed_at_ms') }}
            as refreshed_at_ms,
        {{ after_closing('topics.error_at_ms', 'closings.closed_at_ms') }}
            as error_at_ms,
        {{ after_closing('topics.answered_request_at_ms', 'closings.closed_at_ms') }}
            as answered_request_at_ms,
        {{ after_closing('topics.refreshed_after_access_at_ms', 'closings.closed_at_ms') }}
            as refreshed_after_access_at_ms,
        {{ after_closing('topics.first_event_at_ms', 'closings.closed_at_ms') }}
            as first_event_at_ms,
        {{ after_closing('topics.last_event_at_ms', 'closings.closed_at_ms') }}
            as last_event_at_ms,
        topics.evicted_at_ms

    from due

    left join topics using (cluster_id, producer_id, topic_name)

    left join closings
        on
            due.cluster_id = closings.cluster_id
            and due.producer_id = closings.producer_id

),

latest as (

    select
        stored.cluster_id,
        stored.producer_id,
        stored.topic_name,
        stored.partition_count,
        if(stored.is_in_snapshot, stored.snapshot_at_ms, null) as snapshot_at_ms,
        if(stored.is_in_snapshot, stored.snapshot_taken_at_ms, null) as snapshot_taken_at_ms,
        if(stored.is_in_snapshot, stored.snapshot_access_at_ms, null) as snapshot_access_at_ms,
        if(stored.is_in_snapshot, stored.snapshot_refresh_at_ms, null) as snapshot_refresh_at_ms,
        if(stored.is_in_snapshot, stored.snapshot_has_demand, null) as snapshot_has_demand,
        if(stored.is_in_snapshot, stored.snapshot_notified_at_ms, null) as snapshot_notified_at_ms,
        greatest(stored.access_at_ms, events.access_at_ms) as access_at_ms,
        greatest(stored.demand_at_ms, events.demand_at_ms) as demand_at_ms,
        greatest(stored.demand_ended_at_ms, events.demand_ended_at_ms) as demand_ended_at_ms,
        greatest(stored.notice_at_ms, events.notice_at_ms) as notice_at_ms,
        greatest(stored.requested_at_ms, events.requested_at_ms) as requested_at_ms,
        greatest(stored.refreshed_at_ms, events.refreshed_at_ms) as refreshed_at_ms,
        greatest(stored.error_at_ms, events.error_at_ms) as error_at_ms,
        stored.answered_request_at_ms,
        stored.refreshed_after_access_at_ms,
        least(stored.first_event_at_ms, events.first_event_at_ms)
            as first_event_at_ms,
        greatest(stored.last_event_at_ms, events.last_event_at_ms)
            as last_event_at_ms,
        stored.evicted_at_ms,
        stored.requested_at_ms as stored_requested_at_ms,
        stored.refreshed_at_ms as stored_refreshed_at_ms,
        coalesce(events.requests, array()) as requests,
        coalesce(events.refreshes, array()) as refreshes

    from stored

    left join events using (cluster_id, producer_id, topic_name)

),

answered as (

    select
        *,
        greatest(refreshed_at_ms, error_at_ms) as answered_at_ms,
        flatten(
            array(
                requests,
                array(stored_requested_at_ms, answered_request_at_ms)
            )
        ) as requests_known,
        flatten(
            array(
                refreshes,
                array(stored_refreshed_at_ms, refreshed_after_access_at_ms)
            )
        ) as refreshes_known

    from latest

),

parts as (

    select
        answered.cluster_id,
        answered.producer_id,
        answered.topic_name,
        answered.partition_count,
        answered.snapshot_at_ms,
        answered.snapshot_taken_at_ms,
        answered.snapshot_access_at_ms,
        answered.snapshot_refresh_at_ms,
        answered.snapshot_has_demand,
        answered.snapshot_notified_at_ms,
        answered.access_at_ms,
        answered.demand_at_ms,
        answered.demand_ended_at_ms,
        answered.notice_at_ms,
        answered.requested_at_ms,
        answered.refreshed_at_ms,
        answered.error_at_ms,
        {{ metadata_request_answered('answered.requests_known', 'answered.answered_at_ms') }}
            as answered_request_at_ms,
        {{ first_answer_after('answered.refreshes_known', 'answered.access_at_ms') }}
            as refreshed_after_access_at_ms,
        answered.first_event_at_ms,
        answered.last_event_at_ms,
        answered.evicted_at_ms,
        parameters.run_id,
        answered.snapshot_at_ms is null
        {# the snapshot had it no more #}
        and coalesce(
            answered.last_event_at_ms
            <= coalesce(snapshots.taken_at_ms, -1),
            true
        ) as is_gone

    from answered

    left join snapshots using (cluster_id)

    cross join parameters

),

{{ topics_known('parts') }}

select * from topics_known
