with

remote_segments as (

    select * from {{ ref('stg_state__remote_segments') }}

),

copies as (

    select * from remote_segments

    where segment_state = 'COPY_SEGMENT_STARTED'

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

{# what was finished of the same offsets, also if it was deleted since #}
pairs as (

    select
        copies.cluster_id,
        copies.segment_id,
        copies.start_offset as copy_start_offset,
        copies.end_offset as copy_end_offset,
        {{ offsets_by_epoch('copies') }} as copy_offsets_by_epoch,
        greatest(copies.start_offset, finished.start_offset) as first_offset,
        least(copies.end_offset, finished.end_offset) as last_offset,
        finished.segment_id as other_segment_id,
        finished.size_bytes as other_size_bytes,
        finished.finished_log_offset,
        finished.segment_state = 'COPY_SEGMENT_FINISHED' as is_there,
        finished.finished_log_offset > copies.log_offset as is_later,
        finished.end_offset,
        finished.leader_epochs,
        {{ offsets_by_epoch('finished') }} as offsets_by_epoch,
        led.log_end_offset,
        led.first_epoch,
        led.lineage_by_epoch

    from copies

    inner join remote_segments as finished
        on
            copies.cluster_id = finished.cluster_id
            and copies.topic_id = finished.topic_id
            and copies.partition_index = finished.partition_index
            and copies.start_offset <= finished.end_offset
            and copies.end_offset >= finished.start_offset

    left join partitions_led as led
        on
            copies.cluster_id = led.cluster_id
            and copies.topic_id = led.topic_id
            and copies.partition_index = led.partition_index

    where finished.finished_log_offset is not null

),

pairs_compared as (

    select
        *,
        {{ epochs_between('copy_offsets_by_epoch', 'first_offset', 'last_offset') }}
        = {{ epochs_between('offsets_by_epoch', 'first_offset', 'last_offset') }}
            as is_same_data,
        {{ is_within_lineage('pairs') }} as is_within_lineage

    from pairs

),

{# of another lineage the same offsets are other records #}
pieces as (

    select
        *,
        max(last_offset) over (
            partition by cluster_id, segment_id
            order by first_offset, last_offset, other_segment_id
            rows between unbounded preceding and 1 preceding
        ) as reached_offset

    from pairs_compared

    where if(is_there, is_same_data or is_within_lineage, is_same_data and is_later)

),

copies_covered as (

    select
        cluster_id,
        segment_id,
        count(*) as finished_segments,
        bool_and(is_later) as is_passed,
        max(
            struct(
                last_offset - first_offset as shared_offsets,
                is_there,
                finished_log_offset,
                other_segment_id,
                other_size_bytes
            )
        ) as other

    from pieces

    group by
        cluster_id,
        segment_id

    having
        max(last_offset) = max(copy_end_offset)
        and bool_and(first_offset - 1 <= coalesce(reached_offset, copy_start_offset - 1))

),

copies_superseded as (

    select
        cluster_id,
        segment_id,
        other.other_segment_id,
        is_passed,
        case
            when not other.is_there
                then 'its offsets were copied again, and that copy is deleted or marked'
            when finished_segments > 1
                then
                    concat(
                        'its offsets are in ', finished_segments, ' finished segments'
                    )
            else
                concat(
                    'its offsets are in a finished segment of ',
                    other.other_size_bytes,
                    ' bytes'
                )
        end as detail_text

    from copies_covered

)

select * from copies_superseded
