{# What could have made each touched group, as Kafka replays its log: records
   of the group itself, parts of it, and commits.
   GroupMetadataManager.replay: a part makes its group where none stands, and
   puts a consumer or streams group in the place of a simple one, a tombstone
   too; a share group gives way to any group that stands. #}
with

group_positions as (

    select * from {{ ref('int_groups__group_positions') }}

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

    from group_positions

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
        any_value(is_share_refused) as is_share_refused,
        any_value(stored_group_type) as stored_group_type,
        any_value(stored_tombstone_log_offset) as stored_tombstone_log_offset,
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
