with

partition_states as (

    select * from {{ ref('stg_state__partition_states') }}

),

producer_topics as (

    select * from {{ ref('stg_state__producer_topics') }}

    where last_refresh_at_ms is not null

),

leaders_chosen as (

    select
        cluster_id,
        topic_name,
        partition_index,
        broker_id,
        {{ leader_place('topic_name') }} as leader_place

    from partition_states

    where is_leader

),

partitions as (

    select
        cluster_id,
        topic_name,
        partition_index,
        count(distinct broker_id) as replicas

    from partition_states

    group by
        cluster_id,
        topic_name,
        partition_index

),

topics as (

    select
        cluster_id,
        topic_name,
        count(*) as partitions,
        max(replicas) as replicas

    from partitions

    group by
        cluster_id,
        topic_name

),

topics_led as (

    select
        cluster_id,
        topic_name,
        broker_id,
        count(*) as partitions_led

    from leaders_chosen

    where leader_place = 1

    group by
        cluster_id,
        topic_name,
        broker_id

),

brokers as (

    select distinct
        cluster_id,
        broker_id

    from topics_led

),

cached as (

    select
        producer_topics.cluster_id,
        producer_topics.producer_id,
        producer_topics.topic_name,
        {{ metadata_bytes(
            'producer_topics.topic_name',
            'coalesce(topics.partitions, producer_topics.partition_count, 1)',
            'coalesce(topics.replicas, 1)'
        ) }} as answer_bytes

    from producer_topics

    left join topics using (cluster_id, topic_name)

),

caches as (

    select
        cluster_id,
        producer_id,
        count(*) as cached_topics,
        sum(answer_bytes) as cached_bytes

    from cached

    group by
        cluster_id,
        producer_id

),

notified as (

    select
        cached.cluster_id,
        topics_led.broker_id,
        cached.producer_id,
        count(*) as notified_topics,
        sum(topics_led.partitions_led) as partitions_led,
        sum(cached.answer_bytes) as notified_bytes

    from cached

    inner join topics_led
        on
            cached.cluster_id = topics_led.cluster_id
            and cached.topic_name = topics_led.topic_name

    group by
        cached.cluster_id,
        topics_led.broker_id,
        cached.producer_id

),

metadata_blast_radius as (

    select
        caches.cluster_id,
        brokers.broker_id,
        caches.producer_id,
        caches.cached_topics,
        coalesce(notified.notified_topics, 0) as notified_topics,
        cast(coalesce(notified.partitions_led, 0) as bigint) as partitions_led,
        cast(coalesce(notified.notified_bytes, 0) as bigint) as notified_bytes,
        cast(if(notified.notified_topics is null, 0, caches.cached_bytes) as bigint)
            as bytes_of_all_topics

    from caches

    inner join brokers using (cluster_id)

    left join notified
        on
            caches.cluster_id = notified.cluster_id
            and caches.producer_id = notified.producer_id
            and brokers.broker_id = notified.broker_id

)

select * from metadata_blast_radius
