with

topics_seen as (

    select * from {{ ref('int_mirrors__source_topics_seen') }}

),

flows as (

    select * from {{ ref('int_mirrors__flows_configured') }}

),

topics_ordered as (

    select
        *,
        lag(last_seen_at_ms) over in_order as previous_last_seen_at_ms,
        lag(stored_last_seen_at_ms) over in_order as stored_previous_last_seen_at_ms

    from topics_seen

    window in_order as (
        partition by cluster_id, topic_name
        order by first_seen_at_ms, topic_id
    )

),

topics_recreated as (

    select
        flows.flow,
        topics.topic_name,
        topics.first_seen_at_ms as recreated_at_ms,
        least(topics.previous_last_seen_at_ms, topics.first_seen_at_ms - 1)
            as last_seen_before_at_ms,
        not topics.first_seen_at_ms <=> topics.stored_first_seen_at_ms
        or not topics.previous_last_seen_at_ms <=> topics.stored_previous_last_seen_at_ms
            as is_new

    from topics_ordered as topics

    inner join flows on topics.cluster_id = flows.source_cluster_id

    where topics.previous_last_seen_at_ms is not null

)

select * from topics_recreated
