with

segment_epochs as (

    select * from {{ ref('int_tiers__segment_epochs') }}

    where listing <> 'none'

),

remote_segments as (

    select * from {{ ref('stg_state__remote_segments') }}

    where segment_state = 'COPY_SEGMENT_FINISHED'

),

partitions_led as (

    select * from {{ ref('int_tiers__partitions_led') }}

),

lineages as (

    select
        cluster_id,
        topic_id,
        partition_index,
        log_end_offset,
        get(lineage, 0).leader_epoch as first_epoch,
        {{ lineage_by_epoch('partitions_led') }} as lineage_by_epoch

    from partitions_led

),

{# what is in no epoch's list counts in no total #}
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
        lineages.first_epoch,
        lineages.lineage_by_epoch,
        lineages.log_end_offset

    from remote_segments

    inner join lineages using (cluster_id, topic_id, partition_index)

    left semi join segment_epochs
        on
            remote_segments.cluster_id = segment_epochs.cluster_id
            and remote_segments.segment_id = segment_epochs.segment_id

),

segments_ordered as (

    select
        cluster_id,
        segment_id,
        start_offset,
        end_offset,
        copy_finished_at_ms,
        max(struct(end_offset, segment_id, copy_finished_at_ms)) over (
            partition by cluster_id, topic_id, partition_index
            order by start_offset, end_offset, segment_id
            rows between unbounded preceding and 1 preceding
        ) as furthest

    from segments_joined

    where {{ is_within_lineage('segments_joined') }}

),

{{ epochs_led('partitions_led') }},

{# what a segment holds of the leader's own log, epoch by epoch #}
pieces_cut as (

    select
        pieces.cluster_id,
        pieces.topic_id,
        pieces.partition_index,
        pieces.segment_id,
        greatest(pieces.first_offset, led.start_offset) as first_offset,
        least(pieces.last_offset, led.last_offset) as last_offset

    from segment_epochs as pieces

    inner join epochs_led as led using (cluster_id, topic_id, partition_index, leader_epoch)

    where pieces.segment_state = 'COPY_SEGMENT_FINISHED'

),

pieces_ordered as (

    select
        *,
        max(struct(last_offset, segment_id)) over (
            partition by cluster_id, topic_id, partition_index
            order by first_offset, last_offset, segment_id
            rows between unbounded preceding and 1 preceding
        ) as furthest

    from pieces_cut

    where first_offset <= last_offset

),

segments_misaligned as (

    select
        cluster_id,
        segment_id,
        'OVERLAP' as finding,
        furthest.segment_id as other_segment_id,
        least(end_offset, furthest.end_offset) + 1 - start_offset
            as shared_offsets,
        greatest(copy_finished_at_ms, furthest.copy_finished_at_ms)
            as since_at_ms,
        cast(null as bigint) as first_missing_offset,
        cast(null as bigint) as last_missing_offset

    from segments_ordered

    where start_offset <= furthest.end_offset

    union all

    select
        cluster_id,
        segment_id,
        'HOLE' as finding,
        min_by(furthest.segment_id, first_offset) as other_segment_id,
        null as shared_offsets,
        null as since_at_ms,
        min(furthest.last_offset) + 1 as first_missing_offset,
        min(first_offset) - 1 as last_missing_offset

    from pieces_ordered

    where first_offset > furthest.last_offset + 1

    group by
        cluster_id,
        segment_id

)

select * from segments_misaligned
