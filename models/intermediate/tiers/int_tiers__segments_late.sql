with

remote_segments as (

    select * from {{ ref('stg_state__remote_segments') }}

    where segment_state in ('COPY_SEGMENT_STARTED', 'DELETE_SEGMENT_STARTED')

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

deletes_not_retried as (

    select * from {{ ref('int_tiers__deletes_not_retried') }}

),

copies_superseded as (

    select * from {{ ref('int_tiers__copies_superseded') }}

),

segments_left as (

    select * from {{ ref('int_tiers__segments_left') }}

),

topics_gone as (

    select * from {{ ref('int_tiers__topics_gone') }}

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

    from remote_segments as segments

    left join partitions_led as led using (cluster_id, topic_id, partition_index)

    left join segment_times using (cluster_id, topic_id)

    left join clusters using (cluster_id)

    left join deletes_not_retried using (cluster_id, segment_id)

    left join topics_gone using (cluster_id, topic_id)

    left join copies_superseded as superseded using (cluster_id, segment_id)

    {# nobody copies or deletes anything of these #}
    left anti join segments_left using (cluster_id, segment_id)

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
