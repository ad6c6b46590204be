with

topics as (

    select * from {{ ref('int_producers__replay_topics_sized') }}

),

events as (

    select * from {{ ref('int_producers__replay_events') }}

    where
        not is_before
        and event <> 'requested'

),

closings as (

    select * from {{ ref('int_producers__replay_closings') }}

),

producers as (

    select * from {{ ref('stg_state__producers') }}

),

effective as (

    select * from {{ ref('stg_run__producer_settings') }}

),

partition_states as (

    select * from {{ ref('stg_state__partition_states') }}

),

replay as (

    select * from {{ ref('stg_run__replay') }}

),

topics_gathered as (

    select
        cluster_id,
        producer_id,
        collect_list(topic_name) as topic_names,
        collect_list(coalesce(last_access_at_ms, -1)) as last_access_at_ms,
        collect_list(coalesce(last_refresh_at_ms, -1)) as last_refresh_at_ms,
        collect_list(has_demand) as has_demand,
        collect_list(coalesce(notified_at_ms, -1)) as notified_at_ms,
        collect_list(coalesce(idle_since_at_ms, -1)) as idle_since_at_ms,
        collect_list(is_in_error) as is_in_error,
        collect_list(partition_count) as partition_counts,
        collect_list(asked_bytes) as asked_bytes,
        collect_list(told_bytes) as told_bytes,
        collect_list(refused_bytes) as refused_bytes

    from topics

    group by
        cluster_id,
        producer_id

),

events_gathered as (

    select
        cluster_id,
        producer_id,
        collect_list(at_ms) as event_at_ms,
        collect_list(event) as events,
        collect_list(topic_name) as event_topics

    from events

    group by
        cluster_id,
        producer_id

),

brokers as (

    select
        cluster_id,
        count(distinct broker_id) as broker_count

    from partition_states

    group by cluster_id

),

producers_named as (

    select
        topics_gathered.*,
        coalesce(effective.producer_id, 'default') as settings_id

    from topics_gathered

    left join effective using (producer_id)

),

replays_prepared as (

    select
        producers_named.cluster_id,
        producers_named.producer_id,
        effective.ruleset,
        effective.target_factor,
        effective.rule_mode,
        effective.evict_strict,
        effective.pace_ms,
        effective.evict_ms,
        effective.max_idle_ms,
        effective.max_age_ms,
        effective.retry_backoff_ms,
        if(
            closings.failed_at_ms > coalesce(closings.closed_at_ms, -1),
            closings.failed_at_ms,
            null
        ) as last_failure_at_ms,
        if(
            producers.last_non_urgent_at_ms <= replay.from_at_ms,
            producers.last_non_urgent_at_ms,
            null
        ) as last_non_urgent_at_ms,
        {# its header, and brokers with names of 20 letters #}
        cast(38 + coalesce(brokers.broker_count, 3) * 31 as bigint)
            as overhead_bytes,
        producers_named.topic_names,
        producers_named.last_access_at_ms,
        producers_named.last_refresh_at_ms,
        producers_named.has_demand,
        producers_named.notified_at_ms,
        producers_named.idle_since_at_ms,
        producers_named.is_in_error,
        producers_named.partition_counts,
        producers_named.asked_bytes,
        producers_named.told_bytes,
        producers_named.refused_bytes,
        coalesce(events_gathered.event_at_ms, array()) as event_at_ms,
        coalesce(events_gathered.events, array()) as events,
        coalesce(events_gathered.event_topics, array()) as event_topics

    from producers_named

    inner join effective
        on producers_named.settings_id = effective.producer_id

    left join events_gathered
        on
            producers_named.cluster_id = events_gathered.cluster_id
            and producers_named.producer_id = events_gathered.producer_id

    left join closings
        on
            producers_named.cluster_id = closings.cluster_id
            and producers_named.producer_id = closings.producer_id

    left join producers
        on
            producers_named.cluster_id = producers.cluster_id
            and producers_named.producer_id = producers.producer_id

    left join brokers
        on producers_named.cluster_id = brokers.cluster_id

    cross join replay

)

select * from replays_prepared
