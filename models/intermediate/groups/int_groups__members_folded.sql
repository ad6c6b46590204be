{# The records of each touched group, gathered in one shuffle.
   Member '' is the group itself. #}
with

groups_touched as (

    select * from {{ ref('int_groups__groups_touched') }}

),

group_records as (

    select
        *,
        {{ group_kind('record_type') }} as kind,
        {{ is_group_part('record_type') }} as is_part,
        record_type in (5, 10, 19) as is_member,
        record_type in (8, 14, 22) as is_member_assignment

    from {{ ref('stg_state__group_records') }}

),

records_brought_together as (

    select group_records.*

    from group_records

    left semi join groups_touched using (cluster_id, group_id)

    distribute by group_records.cluster_id, group_records.group_id

),

members_folded as (

    select
        cluster_id,
        group_id,
        kind,
        member_id,
        max_by(
            struct(
                log_offset,
                recorded_at_ms,
                is_readable,
                epoch,
                protocol_type,
                state_at_ms,
                member_count,
                subscribed_topics,
                validated_topology_epoch,
                stored_description_topology_epoch,
                failed_description_topology_epoch
            ),
            log_offset
        ) filter (
            where record_type = kind and not is_tombstone
        ) as live,
        max_by(struct(log_offset, recorded_at_ms), log_offset) filter (
            where record_type = kind and is_tombstone
        ) as removed,
        max(if(is_tombstone, -1, epoch)) filter (
            where record_type in (6, 12, 20)
        ) as assignment_epoch,
        max(log_offset) filter (
            where record_type in (6, 12, 20)
        ) as assignment_log_offset,
        max_by(
            struct(epoch, subscribed_topics, log_offset), log_offset
        ) filter (
            where record_type = 23 and not is_tombstone
        ) as topology,
        collect_list(struct(subscribed_topics, log_offset)) filter (
            where record_type = 16 and not is_tombstone
        ) as regexes,
        bool_and(is_readable) filter (
            where record_type in (6, 12, 16, 20, 23)
        ) as is_readable,
        max(log_offset) as log_offset,
        max(log_offset) filter (
            where (is_member or is_member_assignment) and not is_tombstone
        ) as member_log_offset,
        max(log_offset) filter (
            where is_member and is_tombstone
        ) as left_log_offset,
        max(recorded_at_ms) filter (
            where is_member and is_tombstone
        ) as left_at_ms,
        max_by(subscribed_topics, log_offset) filter (
            where is_member and not is_tombstone
        ) as member_topics,
        max_by(
            struct(
                if(is_tombstone, -1, epoch) as epoch,
                if(is_tombstone, 0, member_state) as member_state
            ),
            log_offset
        ) filter (
            where is_member_assignment
        ) as assignment,
        bool_and(is_readable) filter (
            where is_member or is_member_assignment
        ) as is_member_readable,
        min(log_offset) filter (
            where is_part and not is_tombstone
        ) as first_part_log_offset,
        max(log_offset) filter (
            where is_part and not is_tombstone
        ) as last_part_log_offset,
        max(log_offset) filter (
            where is_part and is_tombstone
        ) as part_tombstone_log_offset,
        bool_and(is_readable) filter (
            where is_part and not is_tombstone
        ) as are_parts_readable

    from records_brought_together

    group by
        cluster_id,
        group_id,
        kind,
        member_id

)

select * from members_folded
