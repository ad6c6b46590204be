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

last_runs as (

    select * from {{ ref('int_tiers__last_runs') }}

),

{# marked, and Kafka's walk ends before it: no retry reaches it #}
beyond_the_walk as (

    select * from {{ ref('stg_decisions__delete_candidates') }}

    where reason_code = 'DELETE_STARTED' and walk_position is null

),

segments_aged as (

    select
        segments.cluster_id,
        segments.segment_id,
        segments.segment_state,
        segments.started_broker_id,
        led.broker_id as leader_broker_id,
        beyond_the_walk.segment_id is not null as is_beyond_the_walk,
        if(
            segments.segment_state = 'COPY_SEGMENT_STARTED',
            segments.copy_started_at_ms,
            segments.delete_started_at_ms
        ) as since_at_ms,
        last_runs.decided_at_ms - if(
            segments.segment_state = 'COPY_SEGMENT_STARTED',
            segments.copy_started_at_ms,
            segments.delete_started_at_ms
        ) as age_ms,
        if(
            segments.segment_state = 'COPY_SEGMENT_STARTED',
            segment_times.copy_threshold_ms,
            segment_times.delete_threshold_ms
        ) as threshold_ms

    from remote_segments as segments

    left join partitions_led as led
        on
            segments.cluster_id = led.cluster_id
            and segments.topic_id = led.topic_id
            and segments.partition_index = led.partition_index

    left join segment_times
        on
            segments.cluster_id = segment_times.cluster_id
            and segments.topic_id = segment_times.topic_id

    left join last_runs
        on segments.cluster_id = last_runs.cluster_id

    left join beyond_the_walk
        on
            segments.cluster_id = beyond_the_walk.cluster_id
            and segments.segment_id = beyond_the_walk.segment_id

),

segments_found as (

    select
        cluster_id,
        segment_id,
        case
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
                and (is_beyond_the_walk or age_ms > threshold_ms)
                then 'DANGLING_DELETE'
        end as finding,
        since_at_ms,
        age_ms,
        threshold_ms,
        case
            when is_beyond_the_walk
                then 'behind the end of the walk: Kafka does not retry it'
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
