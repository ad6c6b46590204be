with

{# a share group commits no offsets: Kafka keeps its positions elsewhere #}
live_groups as (

    select
        *,
        group_state in ('EMPTY', 'DEAD') as is_empty

    from {{ ref('stg_state__groups') }}

    where
        not is_deleted
        and group_type <> 'share'

),

{# Kafka's clients take an offset below 0 for none #}
live_offsets as (

    select
        *,
        coalesce(committed_offset >= 0, false) as is_told

    from {{ ref('stg_state__group_offsets') }}

    where not is_deleted

),

partitions_told as (

    select * from {{ ref('int_groups__partitions_told') }}

),

committed as (

    select
        live_offsets.cluster_id,
        live_offsets.group_id,
        live_offsets.topic_name,
        live_offsets.partition_index,
        live_offsets.topic_id,
        if(live_offsets.is_told, live_offsets.committed_offset, null)
            as committed_offset,
        if(live_offsets.is_told, live_offsets.commit_at_ms, null) as committed_at_ms,
        not live_groups.is_empty
        and not array_contains(
            live_groups.subscribed_topics, live_offsets.topic_name
        ) as is_unsubscribed

    from live_offsets

    inner join live_groups using (cluster_id, group_id)

),

{# an empty group has nobody who reads #}
subscriptions as (

    select
        cluster_id,
        group_id,
        explode(array_distinct(subscribed_topics)) as topic_name

    from live_groups

    where not is_empty

),

subscribed as (

    select
        subscriptions.cluster_id,
        subscriptions.group_id,
        subscriptions.topic_name,
        partitions_told.partition_index

    from subscriptions

    inner join partitions_told using (cluster_id, topic_name)

),

partitions_followed as (

    select
        cluster_id,
        group_id,
        topic_name,
        partition_index,
        topic_id as committed_topic_id,
        committed_offset,
        committed_at_ms,
        coalesce(is_unsubscribed, false) as is_unsubscribed

    from committed

    union all

    select
        subscribed.cluster_id,
        subscribed.group_id,
        subscribed.topic_name,
        subscribed.partition_index,
        null as committed_topic_id,
        null as committed_offset,
        null as committed_at_ms,
        false as is_unsubscribed

    from subscribed

    left anti join committed
        on
            subscribed.cluster_id = committed.cluster_id
            and subscribed.group_id = committed.group_id
            and subscribed.topic_name = committed.topic_name
            and subscribed.partition_index = committed.partition_index

)

select * from partitions_followed
