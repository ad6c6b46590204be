{{ config(materialized='run_list') }}

with

partitions_led as (

    select * from {{ ref('int_tiers__partitions_led') }}

    where epochs is not null

),

segment_epochs as (

    select * from {{ ref('int_tiers__segment_epochs') }}

),

{{ epochs_led('partitions_led', carried=['local_log_start_offset']) }},

{# once an epoch: what is joined is to be short #}
copied_by_epoch as (

    select
        cluster_id,
        topic_id,
        partition_index,
        leader_epoch,
        min(if(listing <> 'none', start_offset, null)) as start_offset,
        max(if(is_finished, last_offset, null)) as last_offset

    from segment_epochs

    group by
        cluster_id,
        topic_id,
        partition_index,
        leader_epoch

),

{# deleting lowers no copied offset #}
offsets_found as (

    select
        led.cluster_id,
        led.topic_id,
        led.partition_index,
        any_value(led.local_log_start_offset) as local_log_start_offset,
        min(
            if(
                copied.start_offset is not null,
                struct(led.leader_epoch, copied.start_offset),
                null
            )
        ) as first_listed,
        {{ highest_copied('copied', 'led', 'copied.last_offset is not null') }}
            as highest

    from epochs_led as led

    left join copied_by_epoch as copied using (cluster_id, topic_id, partition_index, leader_epoch)

    group by
        led.cluster_id,
        led.topic_id,
        led.partition_index

),

lineage_offsets as (

    select
        cluster_id,
        topic_id,
        partition_index,
        coalesce(highest.last_offset, -1) as copied_offset,
        coalesce(highest.leader_epoch, -1) as copied_epoch,
        coalesce(first_listed.start_offset, local_log_start_offset)
            as leader_log_start_offset

    from offsets_found

)

select * from lineage_offsets
