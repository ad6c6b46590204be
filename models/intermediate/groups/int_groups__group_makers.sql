{# What could have made each touched group, as Kafka replays its log: records
   of the group itself, parts of it, and commits.
   GroupMetadataManager.replay: a part makes its group where none stands, and
   puts a consumer or streams group in the place of a simple one, a tombstone
   too; a share group gives way to any group that stands. #}
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
                groups_touched.last_part is null,
                array(),
                array(
                    struct(
                        groups_touched.last_part.kind as kind,
                        groups_touched.last_part.log_offset as first_log_offset,
                        groups_touched.last_part.log_offset as last_log_offset,
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
commits_placed as (

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

),

parts_placed as (

    select
        *,
        transform(
            parts,
            p -> struct(
                p.kind,
                greatest(
                    reset_log_offset,
                    case p.kind
                        when 3 then consumer_tombstone_log_offset
                        when 11 then share_tombstone_log_offset
                        else streams_tombstone_log_offset
                    end
                ) as from_log_offset,
                p.first_log_offset,
                p.last_log_offset,
                p.tombstone_log_offset
            )
        ) as parts_since

    from commits_placed

),

parts_compared as (

    select
        *,
        filter(
            transform(
                parts_since,
                p -> struct(
                    case
                        when p.first_log_offset > p.from_log_offset
                            then p.first_log_offset
                        when p.last_log_offset > p.from_log_offset
                            then p.last_log_offset
                        when
                            p.kind <> 11
                            and p.tombstone_log_offset > p.from_log_offset
                            and p.tombstone_log_offset > simple_log_offset
                            then p.tombstone_log_offset
                    end as log_offset,
                    p.kind
                )
            ),
            m -> m.log_offset is not null
        ) as candidates

    from parts_placed

),

shares_placed as (

    select
        *,
        array_min(
            transform(filter(candidates, m -> m.kind = 11), m -> m.log_offset)
        ) as share_log_offset,
        array_min(
            concat(
                array(simple_log_offset),
                transform(
                    filter(candidates, m -> m.kind <> 11), m -> m.log_offset
                ),
                transform(
                    filter(
                        coalesce(kinds, array()),
                        k -> k.kind <> 11
                        and k.live.log_offset > classic_tombstone_log_offset
                    ),
                    k -> k.live.log_offset
                )
            )
        ) as other_log_offset

    from parts_compared

),

{# a commit that came before stays before when its key is committed again #}
shares_refused as (

    select
        *,
        coalesce(
            share_log_offset > other_log_offset
            or (
                stored_group_type = 'classic'
                and is_stored_without_protocol
                and stored_commit_log_offset > reset_log_offset
                and stored_commit_log_offset > simple_tombstone_log_offset
                and coalesce(first_share_log_offset > share_log_offset, true)
            ),
            false
        ) as is_share_refused

    from shares_placed

),

makers_found as (

    select
        *,
        array_min(
            filter(candidates, m -> m.kind <> 11 or not is_share_refused)
        ) as maker,
        array_max(
            transform(
                filter(
                    kinds,
                    k -> k.live is not null
                    and (k.kind <> 11 or not is_share_refused)
                ),
                k -> struct(k.live.log_offset, k)
            )
        ).k as latest

    from shares_refused

),

{# a row a group already: Spark would put all of the above into each filter on
   what is found here, and does not look behind an aggregate #}
group_makers as (

    select
        cluster_id,
        group_id,
        any_value(run_id) as run_id,
        any_value(kinds) as kinds,
        any_value(members) as members,
        any_value(departures) as departures,
        any_value(parts) as parts,
        any_value(maker) as maker,
        any_value(latest) as latest,
        any_value(removed) as removed,
        any_value(is_record_simple) as is_record_simple,
        any_value(stored_group_type) as stored_group_type,
        any_value(classic_tombstone_log_offset) as classic_tombstone_log_offset,
        any_value(consumer_tombstone_log_offset) as consumer_tombstone_log_offset,
        any_value(share_tombstone_log_offset) as share_tombstone_log_offset,
        any_value(streams_tombstone_log_offset) as streams_tombstone_log_offset,
        any_value(reset_log_offset) as reset_log_offset,
        any_value(simple_tombstone_log_offset) as simple_tombstone_log_offset,
        any_value(offsets_partition_index) as offsets_partition_index,
        any_value(log_offset) as log_offset,
        any_value(tombstone_log_offset) as tombstone_log_offset,
        any_value(last_commit_log_offset) as last_commit_log_offset,
        any_value(removed_log_offset) as removed_log_offset

    from makers_found

    group by
        cluster_id,
        group_id

)

select * from group_makers
