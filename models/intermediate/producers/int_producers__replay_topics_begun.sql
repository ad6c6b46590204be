with

all_events as (

    select * from {{ ref('int_producers__replay_events') }}

    where
        is_before
        and topic_name <> ''

),

topics as (

    select * from {{ ref('stg_state__producer_topics') }}

),

closings as (

    select * from {{ ref('int_producers__replay_closings') }}

),

replay as (

    select * from {{ ref('stg_run__replay') }}

),

parameters as (

    select * from {{ ref('stg_run__parameters') }}

),

events as (

    select all_events.*

    from all_events

    left join closings using (cluster_id, producer_id)

    where all_events.at_ms > coalesce(closings.closed_at_ms, -1)

),

counted as (

    select
        cluster_id,
        producer_id,
        topic_name,
        {{ topic_event_instants() }}

    from events

    group by
        cluster_id,
        producer_id,
        topic_name

),

snapshot as (

    select topics.*

    from topics

    cross join replay

    cross join parameters

    left join closings
        on
            topics.cluster_id = closings.cluster_id
            and topics.producer_id = closings.producer_id

    where
        topics.snapshot_at_ms <= replay.from_at_ms
        and topics.snapshot_at_ms > coalesce(closings.closed_at_ms, -1)
        and array_contains(parameters.cluster_ids, topics.cluster_id)

),

taken as (

    select
        cluster_id,
        max(snapshot_taken_at_ms) as taken_at_ms

    from snapshot

    group by cluster_id

),

parts as (

    select
        coalesce(snapshot.cluster_id, counted.cluster_id) as cluster_id,
        coalesce(snapshot.producer_id, counted.producer_id) as producer_id,
        coalesce(snapshot.topic_name, counted.topic_name) as topic_name,
        snapshot.partition_count,
        snapshot.snapshot_at_ms,
        snapshot.snapshot_taken_at_ms,
        snapshot.snapshot_access_at_ms,
        snapshot.snapshot_refresh_at_ms,
        snapshot.snapshot_has_demand,
        snapshot.snapshot_notified_at_ms,
        counted.access_at_ms,
        counted.demand_at_ms,
        counted.demand_ended_at_ms,
        counted.notice_at_ms,
        counted.requested_at_ms,
        counted.refreshed_at_ms,
        counted.error_at_ms,
        {{ metadata_request_answered(
            'counted.requests',
            'greatest(counted.refreshed_at_ms, counted.error_at_ms)'
        ) }} as answered_request_at_ms,
        {{ first_answer_after('counted.refreshes', 'counted.access_at_ms') }}
            as refreshed_after_access_at_ms,
        counted.first_event_at_ms,
        counted.last_event_at_ms,
        cast(null as bigint) as evicted_at_ms,
        parameters.run_id,
        snapshot.snapshot_at_ms is null
        and counted.last_event_at_ms
        <= coalesce(taken.taken_at_ms, -1) as is_gone

    from snapshot

    full outer join counted
        on
            snapshot.cluster_id = counted.cluster_id
            and snapshot.producer_id = counted.producer_id
            and snapshot.topic_name = counted.topic_name

    left join taken
        on
            coalesce(snapshot.cluster_id, counted.cluster_id)
            = taken.cluster_id

    cross join parameters

),

{{ topics_known('parts') }},

replay_topics_begun as (

    select
        cluster_id,
        producer_id,
        topic_name,
        last_access_at_ms,
        last_refresh_at_ms,
        has_demand,
        notified_at_ms,
        idle_since_at_ms,
        is_in_error

    from topics_known

    where not is_gone

)

select * from replay_topics_begun
