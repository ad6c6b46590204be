with

segments as (

    select * from {{ ref('int_tiers__segments_in_scope') }}

    where finished_log_offset is not null

),

partitions_led as (

    select * from {{ ref('int_tiers__partitions_led') }}

    where epochs is not null

),

partitions_due as (

    select distinct
        cluster_id,
        topic_id,
        partition_index

    from {{ ref('int_tiers__partitions_due') }}

),

epochs_copied as (

    select
        cluster_id,
        topic_id,
        partition_index,
        explode({{ offsets_by_epoch('segments') }}) as epoch

    from segments

),

{# deleting does not lower it #}
highest_by_epoch as (

    select
        cluster_id,
        topic_id,
        partition_index,
        epoch.leader_epoch,
        max(epoch.last_offset) as highest_offset

    from epochs_copied

    group by
        cluster_id,
        topic_id,
        partition_index,
        epoch.leader_epoch

),

highest_collected as (

    select
        cluster_id,
        topic_id,
        partition_index,
        map_from_entries(
            collect_list(struct(leader_epoch, highest_offset))
        ) as highest_offsets

    from highest_by_epoch

    group by
        cluster_id,
        topic_id,
        partition_index

),

{# newest epoch first; a newer epoch of the lineage cuts what was copied #}
newest_epoch_copied as (

    select
        partitions_led.cluster_id,
        partitions_led.topic_id,
        partitions_led.partition_index,
        get(
            filter(
                reverse(
                    transform(
                        partitions_led.epochs,
                        (epoch, position) -> struct(
                            epoch.leader_epoch as leader_epoch,
                            try_element_at(
                                highest_collected.highest_offsets,
                                epoch.leader_epoch
                            ) as highest_offset,
                            coalesce(
                                get(
                                    partitions_led.epochs, position + 1
                                ).start_offset,
                                partitions_led.log_end_offset
                            ) - 1 as last_offset
                        )
                    )
                ),
                epoch -> epoch.highest_offset is not null
            ),
            0
        ) as epoch

    from partitions_led

    left semi join partitions_due
        on
            partitions_led.cluster_id = partitions_due.cluster_id
            and partitions_led.topic_id = partitions_due.topic_id
            and partitions_led.partition_index = partitions_due.partition_index

    left join highest_collected
        on
            partitions_led.cluster_id = highest_collected.cluster_id
            and partitions_led.topic_id = highest_collected.topic_id
            and partitions_led.partition_index
            = highest_collected.partition_index

),

copied_offsets as (

    select
        cluster_id,
        topic_id,
        partition_index,
        coalesce(least(epoch.highest_offset, epoch.last_offset), -1)
            as copied_offset,
        coalesce(epoch.leader_epoch, -1) as copied_epoch

    from newest_epoch_copied

)

select * from copied_offsets
