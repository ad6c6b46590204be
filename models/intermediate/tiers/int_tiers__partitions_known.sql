with

partitions_led as (

    select * from {{ ref('int_tiers__partitions_led') }}

),

topics as (

    select * from {{ ref('int_tiers__topics_configured') }}

),

segments_counted as (

    select * from {{ ref('int_tiers__remote_segments_counted') }}

    where is_live

),

partitions_known as (

    select
        partitions_led.cluster_id,
        partitions_led.topic_id,
        partitions_led.partition_index

    from partitions_led

    left semi join topics
        on
            partitions_led.cluster_id = topics.cluster_id
            and partitions_led.topic_id = topics.topic_id
            and topics.is_tiered

    union distinct

    select
        cluster_id,
        topic_id,
        partition_index

    from segments_counted

)

select * from partitions_known
