{# What a group is now: the latest live record among the four kinds of group, a simple group where only
   commits are left, or deleted. A type 2 tombstone removes a group of any kind. #}
with

groups_touched as (

    select * from {{ ref('int_groups__groups_touched') }}

),

group_records as (

    select * from {{ ref('stg_state__group_records') }}

    where record_type in (2, 3, 11, 17)

),

state_groups as (

    select * from {{ ref('stg_state__groups') }}

),

kinds_compared as (

    select
        group_records.cluster_id,
        group_records.group_id,
        max_by(
            struct(group_records.*),
            group_records.log_offset
        ) filter (where not group_records.is_tombstone) as live,
        max_by(
            struct(group_records.*),
            group_records.log_offset
        ) filter (where group_records.is_tombstone) as removed,
        coalesce(
            max(group_records.log_offset) filter (
                where
                group_records.is_tombstone and group_records.record_type = 2
            ),
            -1
        ) as classic_tombstone_log_offset

    from group_records

    left semi join groups_touched
        on
            group_records.cluster_id = groups_touched.cluster_id
            and group_records.group_id = groups_touched.group_id

    group by
        group_records.cluster_id,
        group_records.group_id

),

positions_known as (

    select
        groups_touched.cluster_id,
        groups_touched.group_id,
        groups_touched.run_id,
        kinds_compared.live,
        kinds_compared.removed,
        coalesce(kinds_compared.classic_tombstone_log_offset, -1)
            as classic_tombstone_log_offset,
        if(
            groups_touched.log_offset > coalesce(state_groups.log_offset, -1),
            groups_touched.partition_index,
            state_groups.offsets_partition_index
        ) as offsets_partition_index,
        greatest(
            groups_touched.log_offset,
            coalesce(state_groups.log_offset, -1)
        ) as log_offset,
        greatest(
            groups_touched.last_commit_log_offset,
            coalesce(state_groups.last_commit_log_offset, -1)
        ) as last_commit_log_offset,
        greatest(
            groups_touched.tombstone_log_offset,
            coalesce(state_groups.tombstone_log_offset, -1)
        ) as tombstone_log_offset

    from groups_touched

    left join kinds_compared
        on
            groups_touched.cluster_id = kinds_compared.cluster_id
            and groups_touched.group_id = kinds_compared.group_id

    left join state_groups
        on
            groups_touched.cluster_id = state_groups.cluster_id
            and groups_touched.group_id = state_groups.group_id

),

kinds_folded as (

    select
        *,
        case
            when live.log_offset > classic_tombstone_log_offset then 'recorded'
            when last_commit_log_offset > tombstone_log_offset then 'simple'
            when removed is not null then 'deleted'
        end as standing

    from positions_known

),

group_kinds_folded as (

    select
        cluster_id,
        group_id,
        standing,
        case
            if(
                standing = 'recorded',
                live.record_type,
                if(standing = 'simple', 2, removed.record_type)
            )
            when 2 then 'classic'
            when 3 then 'consumer'
            when 11 then 'share'
            when 17 then 'streams'
        end as group_type,
        run_id,
        offsets_partition_index,
        log_offset,
        last_commit_log_offset,
        tombstone_log_offset,
        classic_tombstone_log_offset,
        if(standing = 'recorded', live, null) as record,
        if(standing = 'deleted', removed.recorded_at_ms, null) as deleted_at_ms

    from kinds_folded

    where standing is not null

)

select * from group_kinds_folded
