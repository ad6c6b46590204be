with

partitions_followed as (

    select * from {{ ref('int_groups__partitions_followed') }}

),

partitions_told as (

    select * from {{ ref('int_groups__partitions_told') }}

),

lineages as (

    select * from {{ ref('stg_state__leader_epochs') }}

),

topics_told as (

    select
        cluster_id,
        topic_name,
        collect_set(topic_id) as topic_ids

    from partitions_told

    group by
        cluster_id,
        topic_name

),

clusters_told as (

    select distinct cluster_id

    from topics_told

),

partitions_compared as (

    select
        followed.cluster_id,
        followed.group_id,
        followed.topic_name,
        followed.partition_index,
        followed.committed_topic_id,
        followed.committed_offset,
        followed.committed_at_ms,
        followed.committed_leader_epoch,
        followed.is_unsubscribed,
        told.topic_id,
        told.log_start_offset,
        told.last_stable_offset,
        told.high_watermark,
        told.log_end_offset,
        {# as a broker answers who asks where an epoch ended (OffsetsForLeaderEpoch) #}
        coalesce(
            array_min(transform(
                filter(
                    lineages.epochs,
                    epoch -> epoch.leader_epoch > followed.committed_leader_epoch
                ),
                epoch -> epoch.start_offset
            )),
            if(
                array_max(transform(lineages.epochs, epoch -> epoch.leader_epoch))
                = followed.committed_leader_epoch,
                told.log_end_offset,
                null
            )
        ) as epoch_end_offset,
        told.taken_at_ms,
        clusters_told.cluster_id is not null
        and topics_told.cluster_id is null as is_topic_gone,
        {# a partition that the snapshot lacks has the id of its topic #}
        followed.committed_topic_id is not null
        and coalesce(
            followed.committed_topic_id <> told.topic_id,
            size(topics_told.topic_ids) > 0
            and not array_contains(
                topics_told.topic_ids, followed.committed_topic_id
            ),
            false
        ) as is_topic_recreated

    from partitions_followed as followed

    left join partitions_told as told
        on
            followed.cluster_id = told.cluster_id
            and followed.topic_name = told.topic_name
            and followed.partition_index = told.partition_index

    left join lineages
        on
            told.cluster_id = lineages.cluster_id
            and told.topic_id = lineages.topic_id
            and told.partition_index = lineages.partition_index

    left join topics_told
        on
            followed.cluster_id = topics_told.cluster_id
            and followed.topic_name = topics_told.topic_name

    left join clusters_told on followed.cluster_id = clusters_told.cluster_id

)

select * from partitions_compared
