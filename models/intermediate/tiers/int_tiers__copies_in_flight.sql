with

partitions_due as (

    select distinct
        cluster_id,
        topic_id,
        partition_index

    from {{ ref('int_tiers__partitions_due') }}

),

segments as (

    select segments.*

    from {{ ref('stg_state__remote_segments') }} as segments

    left semi join partitions_due using (cluster_id, topic_id, partition_index)

    where segments.segment_state = 'COPY_SEGMENT_STARTED'

),

partitions_led as (

    select * from {{ ref('int_tiers__partitions_led') }}

),

copies_in_flight as (

    select
        segments.cluster_id,
        segments.topic_id,
        segments.partition_index,
        segments.start_offset,
        max(segments.end_offset) as end_offset

    from segments

    inner join partitions_led
        on
            segments.cluster_id = partitions_led.cluster_id
            and segments.topic_id = partitions_led.topic_id
            and segments.partition_index = partitions_led.partition_index
            and segments.started_broker_id = partitions_led.broker_id

    group by
        segments.cluster_id,
        segments.topic_id,
        segments.partition_index,
        segments.start_offset

)

select * from copies_in_flight
