with

topics_seen as (

    select * from {{ ref('stg_state__source_topics') }}

    {# by a snapshot, not by a commit alone #}
    where first_seen_at_ms is not null

),

partition_states as (

    select * from {{ ref('stg_state__partition_states') }}

),

topics_ordered as (

    select
        cluster_id,
        topic_name,
        first_seen_at_ms,
        last_seen_at_ms,
        lag(last_seen_at_ms) over (
            partition by cluster_id, topic_name
            order by first_seen_at_ms, topic_id
        ) as previous_last_seen_at_ms

    from topics_seen

),

{# a snapshot shows all topics of its cluster, an empty one tells nothing #}
snapshots as (

    select
        cluster_id,
        max(taken_at_ms) as taken_at_ms

    from partition_states

    group by cluster_id

),

topics_gone as (

    select
        topics_seen.cluster_id,
        topics_seen.topic_name,
        max(snapshots.taken_at_ms) + 1 as renewed_at_ms,
        max(topics_seen.last_seen_at_ms) as last_seen_before_at_ms

    from topics_seen

    inner join snapshots
        on
            topics_seen.cluster_id = snapshots.cluster_id
            and topics_seen.last_seen_at_ms < snapshots.taken_at_ms

    left anti join partition_states
        on
            topics_seen.cluster_id = partition_states.cluster_id
            and topics_seen.topic_name = partition_states.topic_name

    group by
        topics_seen.cluster_id,
        topics_seen.topic_name

),

renewals as (

    select
        cluster_id,
        topic_name,
        first_seen_at_ms as renewed_at_ms,
        least(previous_last_seen_at_ms, first_seen_at_ms - 1) as last_seen_before_at_ms

    from topics_ordered

    where previous_last_seen_at_ms is not null

    union all

    select
        cluster_id,
        topic_name,
        renewed_at_ms,
        last_seen_before_at_ms

    from topics_gone

),

topics_renewed as (

    select
        cluster_id,
        topic_name,
        max(renewed_at_ms) as renewed_at_ms,
        max(last_seen_before_at_ms) as last_seen_before_at_ms

    from renewals

    group by
        cluster_id,
        topic_name

)

select * from topics_renewed
