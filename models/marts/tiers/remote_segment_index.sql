with

segment_epochs as (

    select * from {{ ref('int_tiers__segment_epochs') }}

    where segment_state <> 'DELETE_SEGMENT_FINISHED'

),

followers_known as (

    select
        *,
        lead(first_offset) over (
            partition by
                cluster_id,
                topic_id,
                partition_index,
                leader_epoch,
                listing
            order by first_offset
        ) as next_first_offset

    from segment_epochs

),

remote_segment_index as (

    select
        cluster_id,
        segment_id,
        leader_epoch,
        topic_id,
        topic_name,
        partition_index,
        first_offset,
        last_offset,
        listing = 'indexed' as is_indexed,
        if(
            listing = 'indexed',
            least(last_offset, next_first_offset - 1),
            null
        ) as answers_until_offset,
        listing,
        segment_state

    from followers_known

)

select * from remote_segment_index
