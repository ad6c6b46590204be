{{ config(
    tags='apply_metadata',
    unique_key=['cluster_id', 'producer_id', 'topic_name'],
    meta={'into': 'state.producer_topics', 'delete_when': 's.is_gone', 'insert_when': false}
) }}

{# on the state as it is now: what came between the decision and its
   application, such as an access or a notice, is later than the round #}
-- depends_on: {{ ref('int_producers__decided') }}

with

clusters as (

    select * from {{ ref('int_producers__clusters_configured') }}

    where is_applied

),

decisions as (

    select decisions.*

    from {{ ref('int_producers__metadata_topics_decided') }} as decisions

    left semi join clusters using (cluster_id)

    where decisions.decision <> 'keep'

),

topics as (

    select * from {{ ref('stg_state__producer_topics') }}

),

observed as (

    select
        topics.*,
        clusters.run_id,
        clusters.decided_at_ms as at_ms,
        decisions.decision in ('fetch', 'evict_and_fetch') as is_answered,
        decisions.decision in ('fetch', 'evict_and_fetch')
        and decisions.reason_code = 'NEW' as is_answered_to_demand,
        decisions.decision in ('evict', 'evict_and_fetch')
        and topics.last_access_at_ms <= decisions.observed_access_at_ms
            as is_evicted

    from topics

    inner join decisions using (cluster_id, producer_id, topic_name)

    inner join clusters
        on topics.cluster_id = clusters.cluster_id

    where
        decisions.decision in ('fetch', 'evict_and_fetch')
        or topics.last_access_at_ms <= decisions.observed_access_at_ms

),

forgotten as (

    select
        * except (
            snapshot_refresh_at_ms,
            snapshot_notified_at_ms,
            notice_at_ms,
            refreshed_at_ms,
            error_at_ms,
            answered_request_at_ms,
            refreshed_after_access_at_ms,
            evicted_at_ms
        ),
        if(is_evicted, null, snapshot_refresh_at_ms) as snapshot_refresh_at_ms,
        if(
            is_evicted and snapshot_notified_at_ms <= at_ms,
            null,
            snapshot_notified_at_ms
        ) as snapshot_notified_at_ms,
        if(is_evicted and notice_at_ms <= at_ms, null, notice_at_ms)
            as notice_at_ms,
        if(is_evicted, null, refreshed_at_ms) as refreshed_at_ms,
        if(is_evicted, null, error_at_ms) as error_at_ms,
        if(is_evicted, null, answered_request_at_ms) as answered_request_at_ms,
        if(is_evicted, null, refreshed_after_access_at_ms)
            as refreshed_after_access_at_ms,
        if(is_evicted, at_ms, evicted_at_ms) as evicted_at_ms

    from observed

),

{# the answer comes at once #}
parts as (

    select
        cluster_id,
        producer_id,
        topic_name,
        partition_count,
        least(snapshot_at_ms, at_ms) as snapshot_at_ms,
        snapshot_taken_at_ms,
        snapshot_access_at_ms,
        snapshot_refresh_at_ms,
        if(
            is_answered and snapshot_has_demand, false, snapshot_has_demand
        ) as snapshot_has_demand,
        snapshot_notified_at_ms,
        if(
            is_answered_to_demand, greatest(access_at_ms, at_ms), access_at_ms
        ) as access_at_ms,
        if(is_answered and demand_at_ms <= at_ms, null, demand_at_ms)
            as demand_at_ms,
        if(
            is_answered, greatest(demand_ended_at_ms, at_ms), demand_ended_at_ms
        ) as demand_ended_at_ms,
        notice_at_ms,
        if(is_answered, greatest(requested_at_ms, at_ms), requested_at_ms)
            as requested_at_ms,
        if(is_answered, greatest(refreshed_at_ms, at_ms), refreshed_at_ms)
            as refreshed_at_ms,
        if(is_answered and error_at_ms <= at_ms, null, error_at_ms)
            as error_at_ms,
        if(
            is_answered,
            greatest(answered_request_at_ms, at_ms),
            answered_request_at_ms
        ) as answered_request_at_ms,
        if(
            is_answered,
            coalesce(
                if(is_answered_to_demand, null, idle_since_at_ms),
                if(last_access_at_ms <= at_ms, at_ms, null)
            ),
            refreshed_after_access_at_ms
        ) as refreshed_after_access_at_ms,
        first_event_at_ms,
        last_event_at_ms,
        evicted_at_ms,
        run_id,
        is_evicted and not is_answered and not has_demand as is_gone

    from forgotten

),

{{ topics_known('parts') }}

select * from topics_known
