{# One entry per kind of group and one per member of each touched group. #}
with

members_folded as (

    select * from {{ ref('int_groups__members_folded') }}

),

group_parts_folded as (

    select
        cluster_id,
        group_id,
        collect_list(
            struct(
                kind,
                live,
                removed,
                assignment_epoch,
                assignment_log_offset,
                topology,
                regexes,
                is_readable
            )
        ) filter (
            where member_id = ''
        ) as kinds,
        collect_list(
            struct(
                kind,
                member_log_offset as log_offset,
                member_topics as subscribed_topics,
                {# a member that was assigned nothing is stable at epoch 0 #}
                coalesce(assignment.epoch, 0) as epoch,
                coalesce(
                    assignment.member_state = if(kind = 17, 1, 0), true
                ) as is_stable,
                is_member_readable as is_readable
            )
        ) filter (
            where member_log_offset > coalesce(left_log_offset, -1)
        ) as members,
        collect_list(struct(kind, left_at_ms)) filter (
            where left_at_ms is not null
        ) as departures,
        collect_list(
            struct(
                kind,
                first_part_log_offset as first_log_offset,
                last_part_log_offset as last_log_offset,
                part_tombstone_log_offset as tombstone_log_offset,
                coalesce(are_parts_readable, true) as is_readable
            )
        ) filter (
            where
            coalesce(first_part_log_offset, part_tombstone_log_offset)
            is not null
        ) as parts,
        max(log_offset) as log_offset

    from members_folded

    group by
        cluster_id,
        group_id

)

select * from group_parts_folded
