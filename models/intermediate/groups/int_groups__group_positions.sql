{# Where in the log each touched group was recorded, removed and committed to:
   what Kafka's replay goes by when it makes the group. #}
with

groups_touched as (

    select * from {{ ref('int_groups__groups_touched') }}

),

group_parts as (

    select * from {{ ref('int_groups__group_parts_folded') }}

),

state_groups as (

    select * from {{ ref('stg_state__groups') }}

),

positions_known as (

    select
        groups_touched.cluster_id,
        groups_touched.group_id,
        groups_touched.run_id,
        groups_touched.first_commit_log_offset,
        groups_touched.first_share_log_offset,
        group_parts.kinds,
        group_parts.members,
        group_parts.departures,
        filter(group_parts.kinds, k -> k.kind = 2)[0].live as classic_record,
        coalesce(filter(group_parts.kinds, k -> k.kind = 2)[0].removed.log_offset, -1)
            as classic_tombstone_log_offset,
        coalesce(filter(group_parts.kinds, k -> k.kind = 3)[0].removed.log_offset, -1)
            as consumer_tombstone_log_offset,
        coalesce(filter(group_parts.kinds, k -> k.kind = 11)[0].removed.log_offset, -1)
            as share_tombstone_log_offset,
        coalesce(filter(group_parts.kinds, k -> k.kind = 17)[0].removed.log_offset, -1)
            as streams_tombstone_log_offset,
        concat(
            coalesce(group_parts.parts, array()),
            if(
                groups_touched.last_part_kind is null,
                array(),
                array(
                    struct(
                        groups_touched.last_part_kind as kind,
                        groups_touched.last_part_log_offset as first_log_offset,
                        groups_touched.last_part_log_offset as last_log_offset,
                        cast(null as bigint) as tombstone_log_offset,
                        true as is_readable
                    )
                )
            ),
            {# to a share group its own record is no more than a part #}
            transform(
                filter(
                    coalesce(group_parts.kinds, array()),
                    k -> k.kind = 11 and k.live is not null
                ),
                k -> struct(
                    k.kind as kind,
                    k.live.log_offset as first_log_offset,
                    k.live.log_offset as last_log_offset,
                    cast(null as bigint) as tombstone_log_offset,
                    true as is_readable
                )
            )
        ) as parts,
        array_max(
            transform(
                filter(group_parts.kinds, k -> k.removed is not null),
                k -> struct(k.removed.log_offset, k.removed.recorded_at_ms, k.kind)
            )
        ) as removed,
        if(
            groups_touched.log_offset > coalesce(state_groups.log_offset, -1),
            groups_touched.partition_index,
            state_groups.offsets_partition_index
        ) as offsets_partition_index,
        greatest(
            groups_touched.log_offset, group_parts.log_offset, state_groups.log_offset
        ) as log_offset,
        greatest(
            groups_touched.last_commit_log_offset,
            coalesce(state_groups.last_commit_log_offset, -1)
        ) as last_commit_log_offset,
        greatest(
            groups_touched.tombstone_log_offset,
            coalesce(state_groups.tombstone_log_offset, -1),
            {# of a group that the sweep removed they came to no row #}
            array_max(transform(group_parts.kinds, k -> k.removed.log_offset))
        ) as tombstone_log_offset,
        state_groups.removed_log_offset,
        nullif(state_groups.last_commit_log_offset, -1) as stored_commit_log_offset,
        if(not state_groups.is_deleted, state_groups.group_type, null)
            as stored_group_type,
        state_groups.tombstone_log_offset as stored_tombstone_log_offset,
        coalesce(state_groups.protocol_type = '', false) as is_stored_without_protocol

    from groups_touched

    left join group_parts using (cluster_id, group_id)

    left join state_groups using (cluster_id, group_id)

),

removals_known as (

    select
        *,
        greatest(
            classic_tombstone_log_offset,
            coalesce(classic_record.log_offset, -1),
            coalesce(removed_log_offset, -1)
        ) as reset_log_offset,
        greatest(
            classic_tombstone_log_offset,
            consumer_tombstone_log_offset,
            streams_tombstone_log_offset
        ) as simple_tombstone_log_offset,
        coalesce(
            classic_record.is_readable
            and classic_record.protocol_type = ''
            and classic_record.member_count = 0,
            false
        ) as is_record_simple

    from positions_known

),

{# the earliest commit that is still known to have made a simple group #}
group_positions as (

    select
        *,
        coalesce(
            if(is_record_simple, classic_record.log_offset, null),
            array_min(
                filter(
                    array(
                        first_commit_log_offset,
                        stored_commit_log_offset,
                        last_commit_log_offset
                    ),
                    c -> c > reset_log_offset and c > simple_tombstone_log_offset
                )
            )
        ) as simple_log_offset

    from removals_known

)

select * from group_positions
