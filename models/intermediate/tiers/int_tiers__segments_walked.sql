with

partitions_due as (

    select distinct
        cluster_id,
        topic_id,
        partition_index

    from {{ ref('int_tiers__partitions_due') }}

),

segments_in_scope as (

    select segments.*

    from {{ ref('stg_state__remote_segments') }} as segments

    left semi join partitions_due using (cluster_id, topic_id, partition_index)

),

{# also by what is deleted by now #}
{{ epochs_superseded('segments_in_scope') }},

segments as (

    select * from segments_in_scope

    where segment_state <> 'DELETE_SEGMENT_FINISHED'

),

partitions_led as (

    select
        led.cluster_id,
        led.topic_id,
        led.partition_index,
        led.broker_id,
        led.log_start_offset,
        led.log_end_offset,
        led.has_lineage,
        get(led.epochs, 0).leader_epoch as earliest_epoch,
        get(led.lineage, 0).leader_epoch as first_epoch,
        {{ lineage_by_epoch('led') }} as lineage_by_epoch

    from {{ ref('int_tiers__partitions_led') }} as led

),

superseded as (

    select
        cluster_id,
        segment_id,
        map_from_entries(
            collect_list(struct(leader_epoch, is_orphaned))
        ) as orphaned_by_epoch

    from epochs_superseded

    group by
        cluster_id,
        segment_id

),

segments_joined as (

    select
        segments.*,
        led.log_start_offset,
        led.log_end_offset,
        led.earliest_epoch,
        led.first_epoch,
        led.lineage_by_epoch,
        superseded.orphaned_by_epoch,
        coalesce(led.has_lineage, false) as has_lineage,
        transform(segments.leader_epochs, epoch -> epoch.leader_epoch)
            as epochs,
        coalesce(
            segments.segment_state = 'COPY_SEGMENT_STARTED'
            and segments.started_broker_id = led.broker_id,
            false
        ) as is_copy_in_flight

    from segments

    left join partitions_led as led using (cluster_id, topic_id, partition_index)

    left join superseded using (cluster_id, segment_id)

),

{# the lineage is not carried on: it is long, and segments are many #}
segments_compared as (

    select
        *,
        {{ is_within_lineage('segments_joined') }} as is_within_lineage,
        coalesce(
            array_max(epochs) <= first_epoch and end_offset < log_start_offset,
            false
        ) as is_below_log_start,
        coalesce(array_max(epochs) < earliest_epoch, false)
            as is_below_lineage,
        forall(
            epochs,
            epoch -> coalesce(try_element_at(orphaned_by_epoch, epoch), false)
        ) as is_orphaned,
        array_min(
            filter(
                epochs,
                epoch -> map_contains_key(lineage_by_epoch, epoch)
                and not coalesce(
                    try_element_at(orphaned_by_epoch, epoch), false
                )
            )
        ) as walk_epoch

    from segments_joined

),

segments_walked as (

    select
        cluster_id,
        segment_id,
        topic_id,
        topic_name,
        partition_index,
        start_offset,
        end_offset,
        segment_state,
        size_bytes,
        max_timestamp_ms,
        delete_started_at_ms,
        has_lineage,
        is_copy_in_flight,
        is_within_lineage,
        is_below_log_start,
        is_below_lineage,
        is_orphaned,
        if(
            walk_epoch is null,
            null,
            row_number() over (
                partition by cluster_id, topic_id, partition_index
                order by
                    walk_epoch asc nulls last,
                    start_offset asc,
                    segment_state <> 'COPY_SEGMENT_FINISHED'
                    or coalesce(
                        map_contains_key(orphaned_by_epoch, walk_epoch), false
                    ) asc,
                    segment_id asc
            )
        ) as walk_position

    from segments_compared

)

select * from segments_walked
