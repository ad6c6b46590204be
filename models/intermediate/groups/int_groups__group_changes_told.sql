{# What the log tells of the group itself: of each record that is no commit, and
   of a commit that brings the group back. #}
with

records as (

    select
        *,
        lead(struct(kind, is_tombstone, recorded_at_ms)) over (
            partition by cluster_id, group_id, is_group
            order by log_offset
        ) as group_after

    from {{ ref('int_groups__records_followed') }}

    where is_readable

),

offsets_gone as (

    select
        cluster_id,
        group_id,
        recorded_at_ms,
        case
            when bool_or(cause = 'BEFORE_DUE') then 'BEFORE_DUE'
            when bool_or(cause = 'UNKNOWN') then 'UNKNOWN'
            else 'RETENTION'
        end as cause

    from {{ ref('int_groups__offsets_gone') }}

    group by
        cluster_id,
        group_id,
        recorded_at_ms

),

{# a group of one kind that takes the place of another is no new one: the broker
   writes a tombstone of the old kind right before it #}
groups_compared as (

    select
        *,
        coalesce(not group_before.is_tombstone, false) as stood,
        coalesce(
            is_group
            and is_tombstone
            and not group_after.is_tombstone
            and group_after.kind <> kind
            and group_after.recorded_at_ms = recorded_at_ms,
            false
        ) as is_replaced,
        coalesce(
            is_group
            and not is_tombstone
            and group_before.kind <> kind
            and (
                not group_before.is_tombstone
                or group_before.recorded_at_ms = recorded_at_ms
            ),
            false
        ) as replaces,
        if(
            group_before.kind = 2,
            group_before.member_count,
            members_known - members_added
        ) as members_before,
        if(kind = 2, member_count, members_known) as members_after

    from records

),

states_named as (

    select
        *,
        if(members_before = 0, 'EMPTY', 'STABLE') as state_before,
        if(members_after = 0, 'EMPTY', 'STABLE') as state_after,
        is_group and not is_tombstone and stood and group_before.kind = kind as is_update,
        if(
            stood and group_before.kind = 17,
            coalesce(group_before.stored_description_topology_epoch, -1),
            -1
        ) as stored_before,
        coalesce(stored_description_topology_epoch, -1) as stored_after,
        case group_before.kind
            when 2 then 'classic'
            when 3 then 'consumer'
            when 11 then 'share'
            when 17 then 'streams'
        end as type_before,
        case coalesce(kind, 2)
            when 2 then 'classic'
            when 3 then 'consumer'
            when 11 then 'share'
            when 17 then 'streams'
        end as type_after,
        case
            {# no retention removes a share group (ShareGroup.shouldExpire) #}
            when kind = 11 then 'BEFORE_DUE'
            when not stood or recorded_at_ms < 0 then 'UNKNOWN'
            when members_before = 0 then 'RETENTION'
            else 'BEFORE_DUE'
        end as cause_alone

    from groups_compared

),

changes_named as (

    select
        cluster_id,
        group_id,
        log_partition_index,
        log_offset,
        recorded_at_ms,
        run_id,
        if(is_member, member_id, null) as member_id,
        inline(filter(
            array(
                struct(
                    case
                        when
                            incarnation > 0
                            and log_offset = begun_log_offset
                            and not replaces
                            then 'CAME_BACK'
                        when
                            is_group
                            and is_tombstone
                            and not is_replaced
                            and (stood or group_before is null)
                            then 'GROUP_DELETED'
                    end as event,
                    if(is_tombstone, 'group_state', 'group_type') as value_name,
                    if(is_tombstone and stood, state_before, null) as value_before,
                    if(is_tombstone, 'DEAD', type_after) as value_after,
                    if(is_tombstone, cause_alone, null) as cause_alone
                ),
                struct(
                    case
                        when kind = 2 and is_group and not is_tombstone
                            then
                                case
                                    when not is_update and member_count > 0
                                        then 'MEMBER_JOINED'
                                    when members_after > members_before then 'MEMBER_JOINED'
                                    when members_after < members_before then 'MEMBER_LEFT'
                                end
                        when is_member and is_tombstone then 'MEMBER_LEFT'
                        when is_member and members_added = 1 then 'MEMBER_JOINED'
                    end as event,
                    'member_count' as value_name,
                    if(is_member or is_update, cast(members_before as string), null)
                        as value_before,
                    cast(members_after as string) as value_after,
                    cast(null as string) as cause_alone
                ),
                struct(
                    case
                        when replaces then 'STATE_CHANGED'
                        when state_before = state_after then null
                        when is_member and stood then 'STATE_CHANGED'
                        when is_update and kind = 2 then 'STATE_CHANGED'
                    end as event,
                    if(replaces, 'group_type', 'group_state') as value_name,
                    if(replaces, type_before, state_before) as value_before,
                    if(replaces, type_after, state_after) as value_after,
                    cast(null as string) as cause_alone
                ),
                struct(
                    if(is_update and group_before.epoch <> epoch, 'EPOCH_CHANGED', null)
                        as event,
                    'group_epoch' as value_name,
                    cast(group_before.epoch as string) as value_before,
                    cast(epoch as string) as value_after,
                    cast(null as string) as cause_alone
                ),
                struct(
                    if(
                        record_type = 23
                        and not is_tombstone
                        and not record_before.is_tombstone
                        and record_before.epoch <> epoch,
                        'EPOCH_CHANGED',
                        null
                    ) as event,
                    'topology_epoch' as value_name,
                    cast(record_before.epoch as string) as value_before,
                    cast(epoch as string) as value_after,
                    cast(null as string) as cause_alone
                ),
                struct(
                    case
                        when not is_group or is_tombstone or kind <> 17 then null
                        when stored_after = stored_before then null
                        when stored_after >= 0 then 'DESCRIPTION_STORED'
                        when stored_after = -1 then 'DESCRIPTION_CLEARED'
                    end as event,
                    'stored_description_topology_epoch' as value_name,
                    cast(stored_before as string) as value_before,
                    cast(stored_after as string) as value_after,
                    cast(null as string) as cause_alone
                )
            ),
            change -> change.event is not null
        )) as (event, value_name, value_before, value_after, cause_told)

    from states_named

),

group_changes_told as (

    select
        changes_named.cluster_id,
        changes_named.group_id,
        changes_named.log_partition_index,
        changes_named.log_offset,
        changes_named.recorded_at_ms,
        changes_named.run_id,
        changes_named.event,
        changes_named.value_name,
        changes_named.value_before,
        changes_named.value_after,
        changes_named.member_id,
        if(
            changes_named.event = 'GROUP_DELETED',
            coalesce(offsets_gone.cause, changes_named.cause_told),
            null
        ) as cause

    from changes_named

    left join offsets_gone
        on
            changes_named.cluster_id = offsets_gone.cluster_id
            and changes_named.group_id = offsets_gone.group_id
            and changes_named.recorded_at_ms = offsets_gone.recorded_at_ms

)

select * from group_changes_told
