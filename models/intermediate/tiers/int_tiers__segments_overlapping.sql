with

segment_epochs as (

    select * from {{ ref('int_tiers__segment_epochs') }}

),

{# what is in no epoch's list counts in no total #}
remote_segments as (

    select segments.*

    from {{ ref('stg_state__remote_segments') }} as segments

    left semi join segment_epochs
        on
            segments.cluster_id = segment_epochs.cluster_id
            and segments.segment_id = segment_epochs.segment_id
            and segment_epochs.listing <> 'none'

    where segments.segment_state = 'COPY_SEGMENT_FINISHED'

),

partitions_led as (

    select
        led.cluster_id,
        led.topic_id,
        led.partition_index,
        led.log_end_offset,
        get(led.lineage, 0).leader_epoch as first_epoch,
        {{ lineage_by_epoch('led') }} as lineage_by_epoch

    from {{ ref('int_tiers__partitions_led') }} as led

),

segments_joined as (

    select
        remote_segments.cluster_id,
        remote_segments.segment_id,
        remote_segments.topic_id,
        remote_segments.partition_index,
        remote_segments.start_offset,
        remote_segments.end_offset,
        remote_segments.copy_finished_at_ms,
        remote_segments.leader_epochs,
        partitions_led.first_epoch,
        partitions_led.lineage_by_epoch,
        partitions_led.log_end_offset

    from remote_segments

    inner join partitions_led using (cluster_id, topic_id, partition_index)

),

segments_of_lineage as (

    select
        cluster_id,
        segment_id,
        topic_id,
        partition_index,
        start_offset,
        end_offset,
        copy_finished_at_ms

    from segments_joined

    where {{ is_within_lineage('segments_joined') }}

),

furthest_known as (

    select
        *,
        max(struct(end_offset, segment_id, copy_finished_at_ms)) over (
            partition by cluster_id, topic_id, partition_index
            order by start_offset, end_offset, segment_id
            rows between unbounded preceding and 1 preceding
        ) as furthest

    from segments_of_lineage

),

segments_overlapping as (

    select
        cluster_id,
        segment_id,
        furthest.segment_id as other_segment_id,
        least(end_offset, furthest.end_offset) + 1 - start_offset
            as shared_offsets,
        greatest(copy_finished_at_ms, furthest.copy_finished_at_ms)
            as since_at_ms

    from furthest_known

    where start_offset <= furthest.end_offset

)

select * from segments_overlapping
