with

partitions_led as (

    select * from {{ ref('int_tiers__partitions_led') }}

    where epochs is not null

),

segment_epochs as (

    select * from {{ ref('int_tiers__segment_epochs') }}

),

epochs_numbered as (

    select
        cluster_id,
        topic_id,
        partition_index,
        local_log_start_offset,
        log_end_offset,
        epochs,
        posexplode_outer(epochs) as (epoch_number, epoch)

    from partitions_led

),

epochs_led as (

    select
        cluster_id,
        topic_id,
        partition_index,
        local_log_start_offset,
        epoch.leader_epoch,
        coalesce(get(epochs, epoch_number + 1).start_offset, log_end_offset)
        - 1 as last_offset

    from epochs_numbered

),

{# deleting lowers no copied offset; a newer epoch of the lineage cuts it #}
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
        max(
            if(
                segments.is_finished,
                struct(
                    led.leader_epoch,
                    least(segments.last_offset, led.last_offset) as last_offset
                ),
                null
            )
        ) as last_copied

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
        coalesce(last_copied.last_offset, -1) as copied_offset,
        coalesce(last_copied.leader_epoch, -1) as copied_epoch,
        coalesce(first_listed.start_offset, local_log_start_offset)
            as leader_log_start_offset

    from offsets_found

)

select * from lineage_offsets
