with

partitions as (

    select * from {{ ref('stg_state__mirrored_partitions') }}

),

topics_ordered as (

    select * from {{ ref('int_mirrors__source_topics_known') }}

),

flows as (

    select * from {{ ref('int_mirrors__flows_configured') }}

),

latest as (

    select
        partitions.flow,
        partitions.topic_name,
        partitions.partition_index,
        max(
            struct(topics.topic_number, topics.topic_id, topics.known_until_ms)
        ) as topic

    from partitions

    inner join flows using (flow)

    inner join topics_ordered as topics
        on
            flows.source_cluster_id = topics.cluster_id
            and partitions.topic_name = topics.topic_name
            and if(
                partitions.topic_recreated_at_ms is null,
                topics.topic_number = 1,
                topics.topic_number > 1
                and partitions.topic_recreated_at_ms = topics.known_since_ms
            )

    group by
        partitions.flow,
        partitions.topic_name,
        partitions.partition_index

),

topics_synced as (

    select
        flow,
        topic_name,
        partition_index,
        topic.topic_number,
        topic.topic_id,
        topic.known_until_ms

    from latest

)

select * from topics_synced
