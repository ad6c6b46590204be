with

{# a share group commits no offsets: Kafka keeps its positions elsewhere #}
live_groups as (

    select * from {{ ref('stg_state__groups') }}

    where
        not is_deleted
        and group_type <> 'share'

),

{# an empty group has nobody who reads #}
groups_with_members as (

    select * from {{ ref('stg_state__groups') }}

    where
        not is_deleted
        and group_type <> 'share'
        and group_state not in ('EMPTY', 'DEAD')

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

subscriptions as (

    select
        cluster_id,
        group_id,
        explode(array_distinct(subscribed_topics)) as topic_name

    from groups_with_members

),

partitions_gathered as (

    select
        live_offsets.cluster_id,
        live_offsets.group_id,
        live_offsets.topic_name,
        live_offsets.partition_index,
        live_offsets.topic_id as committed_topic_id,
        if(live_offsets.is_told, live_offsets.committed_offset, null)
            as committed_offset,
        if(live_offsets.is_told, live_offsets.commit_at_ms, null) as committed_at_ms,
        if(live_offsets.is_told, live_offsets.leader_epoch, null)
            as committed_leader_epoch,
        {# whoever joins by the new protocols reads something: no topic at all means
           that it is not known, as of a pattern that nobody has resolved yet #}
        coalesce(
            live_groups.group_state not in ('EMPTY', 'DEAD')
            and (
                live_groups.group_type = 'classic'
                or size(live_groups.subscribed_topics) > 0
            )
            and not array_contains(
                live_groups.subscribed_topics, live_offsets.topic_name
            ),
            false
        ) as is_unsubscribed

    from live_offsets

    inner join live_groups using (cluster_id, group_id)

    union all

    select
        subscriptions.cluster_id,
        subscriptions.group_id,
        subscriptions.topic_name,
        partitions_told.partition_index,
        null as committed_topic_id,
        null as committed_offset,
        null as committed_at_ms,
        null as committed_leader_epoch,
        false as is_unsubscribed

    from subscriptions

    inner join partitions_told using (cluster_id, topic_name)

),

{# of both sides a partition has one row at most #}
partitions_followed as (

    select
        cluster_id,
        group_id,
        topic_name,
        partition_index,
        max(committed_topic_id) as committed_topic_id,
        max(committed_offset) as committed_offset,
        max(committed_at_ms) as committed_at_ms,
        max(committed_leader_epoch) as committed_leader_epoch,
        bool_or(is_unsubscribed) as is_unsubscribed

    from partitions_gathered

    group by
        cluster_id,
        group_id,
        topic_name,
        partition_index

)

select * from partitions_followed
