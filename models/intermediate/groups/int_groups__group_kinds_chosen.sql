{# Which kind of group each touched group is now.
   It is what the latest live record among the four kinds says; where only
   commits are left, a simple group; else deleted. A type 2 tombstone removes a
   group of any kind. #}
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
        group_parts.members,
        group_parts.departures,
        array_max(
            transform(
                filter(group_parts.kinds, k -> k.live is not null),
                k -> struct(k.live.log_offset, k)
            )
        ).k as latest,
        array_max(
            transform(
                filter(group_parts.kinds, k -> k.removed is not null),
                k -> struct(
                    k.removed.log_offset, k.removed.recorded_at_ms, k.kind
                )
            )
        ) as removed,
        coalesce(
            filter(group_parts.kinds, k -> k.kind = 2)[0].removed.log_offset, -1
        ) as classic_tombstone_log_offset,
        if(
            groups_touched.log_offset > coalesce(state_groups.log_offset, -1),
            groups_touched.partition_index,
            state_groups.offsets_partition_index
        ) as offsets_partition_index,
        greatest(
            groups_touched.log_offset,
            group_parts.log_offset,
            state_groups.log_offset
        ) as log_offset,
        greatest(
            groups_touched.last_commit_log_offset,
            coalesce(state_groups.last_commit_log_offset, -1)
        ) as last_commit_log_offset,
        greatest(
            groups_touched.tombstone_log_offset,
            coalesce(state_groups.tombstone_log_offset, -1),
            {# of a group that the sweep removed they came to no row #}
            array_max(
                transform(group_parts.kinds, k -> k.removed.log_offset)
            )
        ) as tombstone_log_offset,
        state_groups.removed_log_offset

    from groups_touched

    left join group_parts using (cluster_id, group_id)

    left join state_groups using (cluster_id, group_id)

),

standings_known as (

    select
        *,
        case
            when latest.live.log_offset > classic_tombstone_log_offset
                then 'recorded'
            when last_commit_log_offset > tombstone_log_offset then 'simple'
            when removed is not null then 'deleted'
        end as standing

    from positions_known

),

{# members older than a type 2 tombstone belong to a group that it removed #}
group_kinds_chosen as (

    select
        cluster_id,
        group_id,
        run_id,
        standing,
        case standing
            when 'recorded' then latest.kind
            when 'simple' then 2
            else removed.kind
        end as kind,
        filter(
            if(standing = 'recorded', members, array()),
            m -> m.kind = latest.kind
            and m.log_offset > classic_tombstone_log_offset
        ) as live_members,
        departures,
        latest,
        latest.live as record,
        removed,
        classic_tombstone_log_offset,
        offsets_partition_index,
        log_offset,
        tombstone_log_offset,
        last_commit_log_offset,
        removed_log_offset

    from standings_known

    where standing is not null

)

select * from group_kinds_chosen
