with

group_records as (

    select * from {{ ref('stg_state__group_records') }}

    where record_type in (5, 8, 10, 14, 19, 22)

),

groups_touched as (

    select * from {{ ref('int_groups__groups_touched') }}

),

records_by_member as (

    select
        group_records.cluster_id,
        group_records.group_id,
        case
            when group_records.record_type in (5, 8) then 'consumer'
            when group_records.record_type in (10, 14) then 'share'
            else 'streams'
        end as group_type,
        group_records.member_id,
        max(group_records.log_offset) filter (
            where
            group_records.record_type in (5, 10, 19)
            and group_records.is_tombstone
        ) as left_at_log_offset,
        max_by(
            group_records.subscribed_topics, group_records.log_offset
        ) filter (where group_records.record_type in (5, 10))
            as subscribed_topics,
        max(group_records.log_offset) filter (
            where not group_records.is_tombstone
        ) as log_offset,
        max_by(
            if(
                group_records.is_tombstone,
                named_struct('epoch', -1, 'member_state', 0),
                named_struct(
                    'epoch', group_records.epoch,
                    'member_state', group_records.member_state
                )
            ),
            group_records.log_offset
        ) filter (where group_records.record_type in (8, 14, 22))
            as assignment,
        bool_and(group_records.is_readable) as is_readable

    from group_records

    left semi join groups_touched
        on
            group_records.cluster_id = groups_touched.cluster_id
            and group_records.group_id = groups_touched.group_id

    group by
        group_records.cluster_id,
        group_records.group_id,
        case
            when group_records.record_type in (5, 8) then 'consumer'
            when group_records.record_type in (10, 14) then 'share'
            else 'streams'
        end,
        group_records.member_id

),

members_folded as (

    select
        cluster_id,
        group_id,
        group_type,
        member_id,
        subscribed_topics,
        log_offset,
        coalesce(assignment.epoch, 0) as member_epoch,
        coalesce(
            assignment.member_state = if(group_type = 'streams', 1, 0),
            true
        ) as is_stable,
        is_readable

    from records_by_member

    where
        log_offset is not null
        and log_offset > coalesce(left_at_log_offset, -1)

)

select * from members_folded
