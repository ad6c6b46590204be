with

topics_ordered as (

    select
        *,
        false as is_stored

    from {{ ref('int_mirrors__source_topics_ordered') }}

    union all

    select
        *,
        true as is_stored

    from {{ ref('int_mirrors__source_topics_known') }}

),

flows as (

    select * from {{ ref('int_mirrors__flows_configured') }}

),

{# a snapshot that shows the old id behind the first sight of the new one is of a broker that did
   not know yet: then nothing tells when the old topic went #}
recreations as (

    select
        cluster_id,
        topic_name,
        topic_id,
        is_stored,
        known_since_ms as recreated_at_ms,
        least(
            if(
                previous_known_until_ms < known_since_ms,
                previous_known_until_ms,
                previous_known_since_ms
            ),
            known_since_ms - 1
        ) as last_seen_before_at_ms

    from topics_ordered

    where topic_number > 1

),

topics_recreated as (

    select
        flows.flow,
        recreations.topic_name,
        recreations.topic_id,
        recreations.recreated_at_ms,
        recreations.last_seen_before_at_ms,
        not max(recreations.is_stored) as is_new,
        min(recreations.is_stored) as is_over

    from recreations

    inner join flows on recreations.cluster_id = flows.source_cluster_id

    group by
        flows.flow,
        recreations.topic_name,
        recreations.topic_id,
        recreations.recreated_at_ms,
        recreations.last_seen_before_at_ms

)

select * from topics_recreated
