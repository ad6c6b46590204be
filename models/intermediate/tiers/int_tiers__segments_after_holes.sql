with

segment_epochs as (

    select * from {{ ref('int_tiers__segment_epochs') }}

    where
        segment_state = 'COPY_SEGMENT_FINISHED'
        and listing <> 'none'

),

partitions_led as (

    select * from {{ ref('int_tiers__partitions_led') }}

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

),

furthest_known as (

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

segments_after_holes as (

    select
        cluster_id,
        segment_id,
        min_by(furthest.segment_id, first_offset) as other_segment_id,
        min(furthest.last_offset) + 1 as first_missing_offset,
        min(first_offset) - 1 as last_missing_offset

    from furthest_known

    where first_offset > furthest.last_offset + 1

    group by
        cluster_id,
        segment_id

)

select * from segments_after_holes
