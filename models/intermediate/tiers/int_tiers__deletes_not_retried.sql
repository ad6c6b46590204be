with

delete_candidates as (

    select * from {{ ref('stg_decisions__delete_candidates') }}

),

marked_segments as (

    select * from {{ ref('stg_state__remote_segments') }}

    where segment_state = 'DELETE_SEGMENT_STARTED'

),

partitions_led as (

    select * from {{ ref('int_tiers__partitions_led') }}

),

{# the walk ends at the first segment that stays #}
walks_ended as (

    select
        cluster_id,
        topic_id,
        partition_index,
        min(walk_position) as last_position

    from delete_candidates

    where {{ stops_walk('reason_code') }}

    group by
        cluster_id,
        topic_id,
        partition_index

),

deletes_not_retried as (

    select
        marked.cluster_id,
        marked.segment_id

    from marked_segments as marked

    inner join delete_candidates as candidates using (cluster_id, segment_id)

    left join walks_ended
        on
            marked.cluster_id = walks_ended.cluster_id
            and marked.topic_id = walks_ended.topic_id
            and marked.partition_index = walks_ended.partition_index

    left join partitions_led
        on
            marked.cluster_id = partitions_led.cluster_id
            and marked.topic_id = partitions_led.topic_id
            and marked.partition_index = partitions_led.partition_index

    where
        candidates.reason_code = 'DELETE_STARTED'
        and (
            candidates.walk_position > walks_ended.last_position
            or (
                candidates.walk_position is null
                and array_max(
                    transform(marked.leader_epochs, epoch -> epoch.leader_epoch)
                )
                >= get(partitions_led.lineage, 0).leader_epoch
            )
        )

)

select * from deletes_not_retried
