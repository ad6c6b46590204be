{{ config(
    tags='fold_producer_events',
    unique_key=['cluster_id', 'producer_id', 'topic_name'],
    meta={
        'into': 'state.producer_topics',
        'delete_when': 's.is_gone',
        'insert_when': 'not s.is_gone'
    }
) }}

with

topics as (

    select * from {{ ref('int_producers__topics_folded') }}

),

topics_folded as (

    select
        cluster_id,
        producer_id,
        topic_name,
        last_access_at_ms,
        last_refresh_at_ms,
        has_demand,
        notified_at_ms,
        idle_since_at_ms,
        is_in_error,
        partition_count,
        snapshot_at_ms,
        snapshot_taken_at_ms,
        snapshot_access_at_ms,
        snapshot_refresh_at_ms,
        snapshot_has_demand,
        snapshot_notified_at_ms,
        access_at_ms,
        demand_at_ms,
        demand_ended_at_ms,
        notice_at_ms,
        requested_at_ms,
        refreshed_at_ms,
        error_at_ms,
        answered_request_at_ms,
        refreshed_after_access_at_ms,
        first_event_at_ms,
        last_event_at_ms,
        evicted_at_ms,
        changed_in_run_id,
        is_gone

    from topics

)

select * from topics_folded
