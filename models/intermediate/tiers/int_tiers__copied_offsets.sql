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

    where segments.finished_log_offset is not null

),

partitions as (

    select led.*

    from {{ ref('int_tiers__partitions_led') }} as led

    left semi join partitions_due using (cluster_id, topic_id, partition_index)

    where led.epochs is not null

),

{{ epochs_led('partitions') }},

{# deleting does not lower it #}
epochs_copied as (

    select
        cluster_id,
        topic_id,
        partition_index,
        inline({{ offsets_by_epoch('segments') }})
            as (leader_epoch, first_offset, last_offset)

    from segments

),

{# once an epoch: what is joined is to be short #}
highest_by_epoch as (

    select
        cluster_id,
        topic_id,
        partition_index,
        leader_epoch,
        max(last_offset) as last_offset

    from epochs_copied

    group by
        cluster_id,
        topic_id,
        partition_index,
        leader_epoch

),

newest_copied as (

    select
        led.cluster_id,
        led.topic_id,
        led.partition_index,
        {{ highest_copied('copied', 'led', 'copied.last_offset is not null') }}
            as highest

    from epochs_led as led

    left join highest_by_epoch as copied using (cluster_id, topic_id, partition_index, leader_epoch)

    group by
        led.cluster_id,
        led.topic_id,
        led.partition_index

),

copied_offsets as (

    select
        cluster_id,
        topic_id,
        partition_index,
        coalesce(highest.last_offset, -1) as copied_offset,
        coalesce(highest.leader_epoch, -1) as copied_epoch

    from newest_copied

)

select * from copied_offsets
