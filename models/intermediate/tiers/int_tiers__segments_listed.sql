with

segments as (

    select * from {{ ref('int_tiers__segments_in_scope') }}

    where segment_state <> 'DELETE_SEGMENT_FINISHED'

),

partitions_led as (

    select * from {{ ref('int_tiers__partitions_led') }}

),

superseded as (

    select
        cluster_id,
        segment_id,
        map_from_entries(
            collect_list(struct(leader_epoch, is_orphaned))
        ) as orphaned_by_epoch

    from {{ ref('int_tiers__segments_superseded') }}

    group by
        cluster_id,
        segment_id

),

segments_joined as (

    select
        {{ segment_columns('segments') }},
        partitions_led.broker_id as leader_broker_id,
        partitions_led.epochs,
        partitions_led.lineage,
        partitions_led.log_start_offset,
        partitions_led.log_end_offset,
        superseded.orphaned_by_epoch,
        array_min(
            filter(
                array_intersect(
                    segments.leader_epochs.leader_epoch,
                    partitions_led.lineage.leader_epoch
                ),
                epoch -> not coalesce(
                    try_element_at(superseded.orphaned_by_epoch, epoch), false
                )
            )
        ) as walk_epoch

    from segments

    left join partitions_led
        on
            segments.cluster_id = partitions_led.cluster_id
            and segments.topic_id = partitions_led.topic_id
            and segments.partition_index = partitions_led.partition_index

    left join superseded
        on
            segments.cluster_id = superseded.cluster_id
            and segments.segment_id = superseded.segment_id

),

segments_listed as (

    select
        {{ segment_columns('segments_joined') }},
        leader_broker_id,
        epochs,
        lineage,
        log_start_offset,
        log_end_offset,
        orphaned_by_epoch,
        walk_epoch,
        coalesce(
            segment_state = 'COPY_SEGMENT_STARTED'
            and started_broker_id = leader_broker_id,
            false
        ) as is_copy_in_flight,
        forall(
            leader_epochs.leader_epoch,
            epoch -> coalesce(try_element_at(orphaned_by_epoch, epoch), false)
        ) as is_orphaned,
        coalesce({{ is_within_lineage('segments_joined') }}, false)
            as is_within_lineage,
        if(
            walk_epoch is null,
            null,
            row_number() over (
                partition by
                    cluster_id, topic_id, partition_index, walk_epoch is null
                order by
                    walk_epoch asc,
                    start_offset asc,
                    segment_state <> 'COPY_SEGMENT_FINISHED'
                    or coalesce(
                        map_contains_key(orphaned_by_epoch, walk_epoch), false
                    ) asc,
                    segment_id asc
            )
        ) as walk_position

    from segments_joined

)

select * from segments_listed
