with

begun as (

    select * from {{ ref('int_producers__replay_topics_begun') }}

),

events as (

    select * from {{ ref('int_producers__replay_events') }}

    where
        not is_before
        and topic_name <> ''

),

snapshot as (

    select * from {{ ref('stg_state__producer_topics') }}

),

partition_states as (

    select * from {{ ref('stg_state__partition_states') }}

),

named as (

    select
        cluster_id,
        producer_id,
        topic_name

    from begun

    union all

    select distinct
        cluster_id,
        producer_id,
        topic_name

    from events

),

topics as (

    select distinct
        cluster_id,
        producer_id,
        topic_name

    from named

),

partitions as (

    select
        cluster_id,
        topic_name,
        count(distinct partition_index) as partition_count,
        count(*) div count(distinct partition_index) as replica_count,
        {# a snapshot of leaders alone does not tell of replicas #}
        bool_or(not is_leader) as has_followers

    from partition_states

    group by
        cluster_id,
        topic_name

),

counted as (

    select
        topics.cluster_id,
        topics.producer_id,
        topics.topic_name,
        begun.last_access_at_ms,
        begun.last_refresh_at_ms,
        coalesce(begun.has_demand, false) as has_demand,
        begun.notified_at_ms,
        begun.idle_since_at_ms,
        coalesce(begun.is_in_error, false) as is_in_error,
        cast(
            coalesce(snapshot.partition_count, partitions.partition_count, 12)
            as bigint
        ) as partition_count,
        cast(
            if(partitions.has_followers, partitions.replica_count, 3) as bigint
        ) as replica_count,
        octet_length(encode(topics.topic_name, 'UTF-8')) as name_bytes

    from topics

    left join begun using (cluster_id, producer_id, topic_name)

    left join snapshot
        on
            topics.cluster_id = snapshot.cluster_id
            and topics.producer_id = snapshot.producer_id
            and topics.topic_name = snapshot.topic_name

    left join partitions
        on
            topics.cluster_id = partitions.cluster_id
            and topics.topic_name = partitions.topic_name

),

replay_topics_sized as (

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
        cast(2 + name_bytes as bigint) as asked_bytes,
        cast(
            {{ metadata_bytes('topic_name', 'partition_count', 'replica_count') }}
            as bigint
        ) as told_bytes,
        cast({{ metadata_bytes('topic_name', '0', '0') }} as bigint)
            as refused_bytes

    from counted

)

select * from replay_topics_sized
