{# The row of state.groups that the records make of each group which this load touched.
   Group states: ClassicGroup, ConsumerGroup, ShareGroup and StreamsGroup.maybeUpdateGroupState. #}
with

kinds as (

    select * from {{ ref('int_groups__group_kinds_folded') }}

),

group_records as (

    select * from {{ ref('stg_state__group_records') }}

    where record_type in (6, 12, 16, 20, 23) or record_type in (5, 10, 19)

),

members as (

    select * from {{ ref('int_groups__members_folded') }}

),

{# records older than a type 2 tombstone belong to a group that it removed #}
parts_collected as (

    select
        kinds.cluster_id,
        kinds.group_id,
        max(
            if(group_records.is_tombstone, -1, group_records.epoch)
        ) filter (where group_records.record_type in (6, 12, 20))
            as assignment_epoch,
        max_by(
            struct(group_records.epoch, group_records.subscribed_topics),
            group_records.log_offset
        ) filter (
            where
            group_records.record_type = 23 and not group_records.is_tombstone
        ) as topology,
        array_sort(array_distinct(flatten(collect_list(
            group_records.subscribed_topics
        ) filter (
            where
            group_records.record_type = 16 and not group_records.is_tombstone
        )))) as regex_topics,
        max(group_records.recorded_at_ms) filter (
            where
            group_records.record_type in (5, 10, 19)
            and group_records.is_tombstone
        ) as last_left_at_ms,
        bool_and(group_records.is_readable) as is_readable

    from kinds

    inner join group_records
        on
            kinds.cluster_id = group_records.cluster_id
            and kinds.group_id = group_records.group_id
            and kinds.classic_tombstone_log_offset < group_records.log_offset
            and kinds.group_type = case
                when group_records.record_type in (5, 6, 16) then 'consumer'
                when group_records.record_type in (10, 12) then 'share'
                else 'streams'
            end

    group by
        kinds.cluster_id,
        kinds.group_id

),

members_counted as (

    select
        kinds.cluster_id,
        kinds.group_id,
        count(*) as member_count,
        array_sort(array_distinct(flatten(collect_list(
            members.subscribed_topics
        )))) as subscribed_topics,
        collect_list(members.member_epoch) as member_epochs,
        bool_and(members.is_stable) as is_stable,
        bool_and(members.is_readable) as is_readable

    from kinds

    inner join members
        on
            kinds.cluster_id = members.cluster_id
            and kinds.group_id = members.group_id
            and kinds.group_type = members.group_type
            and kinds.classic_tombstone_log_offset < members.log_offset

    group by
        kinds.cluster_id,
        kinds.group_id

),

parts_joined as (

    select
        kinds.*,
        {# a group without an assignment record counts as assigned at 1 #}
        coalesce(parts_collected.assignment_epoch, 1) as assignment_epoch,
        parts_collected.topology,
        parts_collected.regex_topics,
        parts_collected.last_left_at_ms,
        if(
            kinds.group_type = 'classic',
            coalesce(kinds.record.member_count, 0),
            coalesce(members_counted.member_count, 0)
        ) as member_count,
        members_counted.subscribed_topics as member_topics,
        members_counted.member_epochs,
        coalesce(members_counted.is_stable, true) as is_stable,
        kinds.standing <> 'recorded'
        or (
            kinds.record.is_readable
            and coalesce(parts_collected.is_readable, true)
            and coalesce(members_counted.is_readable, true)
        ) as is_readable

    from kinds

    left join parts_collected
        on
            kinds.cluster_id = parts_collected.cluster_id
            and kinds.group_id = parts_collected.group_id

    left join members_counted
        on
            kinds.cluster_id = members_counted.cluster_id
            and kinds.group_id = members_counted.group_id

),

states_derived as (

    select
        *,
        case
            when standing = 'deleted' then 'DEAD'
            when not is_readable then 'UNKNOWN'
            when standing = 'simple' or member_count = 0 then 'EMPTY'
            when group_type in ('classic', 'share') then 'STABLE'
            when
                group_type = 'streams'
                and not coalesce(
                    topology.epoch = record.validated_topology_epoch, false
                )
                then 'NOT_READY'
            when record.epoch > assignment_epoch then 'ASSIGNING'
            when
                not is_stable
                or exists(member_epochs, e -> e <> assignment_epoch)
                then 'RECONCILING'
            else 'STABLE'
        end as group_state

    from parts_joined

),

groups_folded as (

    select
        cluster_id,
        group_id,
        offsets_partition_index,
        group_type,
        group_state,
        case
            when standing = 'simple' then ''
            when group_type <> 'classic' then group_type
            when standing = 'recorded' then record.protocol_type
            else ''
        end as protocol_type,
        coalesce(record.epoch, 0) as group_epoch,
        if(
            standing = 'deleted' or group_type <> 'streams',
            -1,
            coalesce(topology.epoch, -1)
        ) as topology_epoch,
        coalesce(record.stored_description_topology_epoch, -1)
            as stored_description_topology_epoch,
        coalesce(record.failed_description_topology_epoch, -1)
            as failed_description_topology_epoch,
        cast(if(standing = 'deleted', 0, member_count) as int) as member_count,
        case
            when standing <> 'recorded' or not is_readable then null
            when group_type = 'classic' then record.subscribed_topics
            when group_type = 'consumer'
                then array_sort(array_union(
                    coalesce(member_topics, array()),
                    coalesce(regex_topics, array())
                ))
            when group_type = 'share' then coalesce(member_topics, array())
            when group_state = 'EMPTY' then array()
            else coalesce(topology.subscribed_topics, array())
        end as subscribed_topics,
        standing = 'deleted' as is_deleted,
        is_readable,
        if(standing = 'deleted', 'broker', null) as deleted_by,
        case
            when group_state <> 'EMPTY' or standing = 'simple' then null
            when group_type = 'classic' then record.state_at_ms
            else coalesce(last_left_at_ms, record.recorded_at_ms)
        end as empty_since_at_ms,
        deleted_at_ms,
        log_offset,
        tombstone_log_offset,
        last_commit_log_offset,
        run_id as changed_in_run_id

    from states_derived

)

select * from groups_folded
