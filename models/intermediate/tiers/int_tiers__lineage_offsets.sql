{{ config(materialized='run_list') }}

with

partitions_led as (

    select * from {{ ref('int_tiers__partitions_led') }}

    where epochs is not null

),

segment_epochs as (

    select * from {{ ref('int_tiers__segment_epochs') }}

),

{{ epochs_led('partitions_led', told=['local_log_start_offset']) }},

{# deleting lowers no copied offset #}
offsets_found as (

    select
        led.cluster_id,
        led.topic_id,
        led.partition_index,
        any_value(led.local_log_start_offset) as local_log_start_offset,
        min(
            if(
                segments.listing <> 'none',
                struct(led.leader_epoch, segments.start_offset),
                null
            )
        ) as first_listed,
        {{ highest_copied('segments', 'led', 'segments.is_finished') }}
            as highest

    from epochs_led as led

    left join segment_epochs as segments
        on
            led.cluster_id = segments.cluster_id
            and led.topic_id = segments.topic_id
            and led.partition_index = segments.partition_index
            and led.leader_epoch = segments.leader_epoch

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
