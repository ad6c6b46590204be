with

remote_segments as (

    select * from {{ ref('stg_state__remote_segments') }}

    where segment_state in ('COPY_SEGMENT_STARTED', 'DELETE_SEGMENT_STARTED')

),

delete_candidates as (

    select * from {{ ref('stg_decisions__delete_candidates') }}

),

segment_times as (

    select * from {{ ref('int_tiers__segment_times') }}

),

partitions_led as (

    select * from {{ ref('int_tiers__partitions_led') }}

),

clusters as (

    select * from {{ ref('int_tiers__clusters_known') }}

),

copies_superseded as (

    select * from {{ ref('int_tiers__copies_superseded') }}

),

topics_left as (

    select * from {{ ref('int_tiers__topics_left') }}

),

topics_gone as (

    select * from topics_left

    where finding = 'ORPHANED'

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
        segments.cluster_id,
        segments.segment_id

    from remote_segments as segments

    inner join delete_candidates as candidates using (cluster_id, segment_id)

    left join walks_ended
        on
            segments.cluster_id = walks_ended.cluster_id
            and segments.topic_id = walks_ended.topic_id
            and segments.partition_index = walks_ended.partition_index

    left join partitions_led
        on
            segments.cluster_id = partitions_led.cluster_id
            and segments.topic_id = partitions_led.topic_id
            and segments.partition_index = partitions_led.partition_index

    where
        segments.segment_state = 'DELETE_SEGMENT_STARTED'
        and candidates.reason_code = 'DELETE_STARTED'
        and (
            candidates.walk_position > walks_ended.last_position
            or (
                candidates.walk_position is null
                and array_max(
                    transform(segments.leader_epochs, epoch -> epoch.leader_epoch)
                )
                >= get(partitions_led.lineage, 0).leader_epoch
            )
        )

),

{# nobody copies anything of a topic that is left; of what is marked for deletion a broker
   has taken care, or its age tells #}
segments_looked_after as (

    select remote_segments.*

    from remote_segments

    left anti join topics_left
        on
            remote_segments.cluster_id = topics_left.cluster_id
            and remote_segments.topic_id = topics_left.topic_id
            and remote_segments.segment_state = 'COPY_SEGMENT_STARTED'

),

segments_aged as (

    select
        segments.cluster_id,
        segments.segment_id,
        segments.segment_state,
        segments.started_broker_id,
        led.broker_id as leader_broker_id,
        deletes_not_retried.segment_id is not null as is_not_retried,
        topics_gone.topic_id is not null as is_topic_gone,
        superseded.is_passed,
        superseded.other_segment_id,
        superseded.detail_text as superseded_text,
        {{ waits_since_ms('segments') }} as since_at_ms,
        {{ long_difference('clusters.decided_at_ms', waits_since_ms('segments')) }} as age_ms,
        {{ may_wait_ms('segments', 'segment_times') }} as threshold_ms

    from segments_looked_after as segments

    left join partitions_led as led using (cluster_id, topic_id, partition_index)

    left join segment_times using (cluster_id, topic_id)

    left join clusters using (cluster_id)

    left join deletes_not_retried using (cluster_id, segment_id)

    left join topics_gone using (cluster_id, topic_id)

    left join copies_superseded as superseded using (cluster_id, segment_id)

),

segments_found as (

    select
        cluster_id,
        segment_id,
        case
            when
                other_segment_id is not null
                and (
                    is_passed
                    or started_broker_id <> leader_broker_id
                    or age_ms > threshold_ms
                )
                then 'SUPERSEDED'
            when
                segment_state = 'COPY_SEGMENT_STARTED'
                and started_broker_id <> leader_broker_id
                then 'DANGLING_COPY'
            when
                segment_state = 'COPY_SEGMENT_STARTED'
                and age_ms > threshold_ms
                then 'STUCK_COPY'
            when
                segment_state = 'DELETE_SEGMENT_STARTED'
                and (is_not_retried or age_ms > threshold_ms)
                then 'DANGLING_DELETE'
        end as finding,
        since_at_ms,
        age_ms,
        if(other_segment_id is null, threshold_ms, null) as threshold_ms,
        other_segment_id,
        case
            when other_segment_id is not null
                then superseded_text
            when is_topic_gone
                then 'marked for deletion, not deleted: no topic has this id any more'
            when is_not_retried
                then 'the walk does not reach it: it is not retried'
            when segment_state = 'DELETE_SEGMENT_STARTED'
                then 'marked for deletion, not deleted'
            when leader_broker_id is null
                then 'no leader of the partition is known'
            when started_broker_id <> leader_broker_id
                then concat('the leader is broker ', leader_broker_id)
            else 'its broker still leads the partition'
        end as detail_text

    from segments_aged

),

segments_late as (

    select * from segments_found

    where finding is not null

)

select * from segments_late
