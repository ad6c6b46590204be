{# The row of state.groups that the records make of each touched group.
   Group states: ClassicGroup, ConsumerGroup, ShareGroup and
   StreamsGroup.maybeUpdateGroupState. #}
with

kinds_chosen as (

    select * from {{ ref('int_groups__group_kinds_chosen') }}

),

counts_taken as (

    select
        *,
        {# Kafka begins both at 1, and counts an assignment without a record so #}
        if(
            latest.assignment_log_offset > made_after_log_offset,
            latest.assignment_epoch,
            1
        ) as assignment_epoch,
        case standing
            when 'recorded' then coalesce(record.epoch, 0)
            when 'implied' then 1
            else 0
        end as group_epoch,
        case
            when standing in ('simple', 'deleted') then 0
            when kind = 2 then coalesce(record.member_count, 0)
            else size(live_members)
        end as member_count,
        standing in ('simple', 'deleted')
        or (
            if(standing = 'recorded', record.is_readable, are_parts_readable)
            and coalesce(latest.is_readable, true)
            and forall(live_members, m -> m.is_readable)
        ) as is_readable,
        standing = 'recorded'
        and record.log_offset > coalesce(removed_log_offset, -1)
            as tells_epochs

    from kinds_chosen

),

states_derived as (

    select
        *,
        case
            when standing = 'deleted' then 'DEAD'
            when not is_readable then 'UNKNOWN'
            when member_count = 0 then 'EMPTY'
            when kind in (2, 11) then 'STABLE'
            when
                kind = 17
                and not coalesce(
                    latest.topology.epoch = record.validated_topology_epoch,
                    false
                )
                then 'NOT_READY'
            when group_epoch > assignment_epoch then 'ASSIGNING'
            when
                exists(
                    live_members,
                    m -> not m.is_stable or m.epoch <> assignment_epoch
                )
                then 'RECONCILING'
            else 'STABLE'
        end as group_state

    from counts_taken

),

groups_folded as (

    select
        cluster_id,
        group_id,
        offsets_partition_index,
        case kind
            when 2 then 'classic'
            when 3 then 'consumer'
            when 11 then 'share'
            when 17 then 'streams'
        end as group_type,
        group_state,
        case
            when kind = 3 then 'consumer'
            when kind = 11 then 'share'
            when kind = 17 then 'streams'
            when standing = 'recorded' then record.protocol_type
            else ''
        end as protocol_type,
        group_epoch,
        if(
            standing in ('recorded', 'implied') and kind = 17,
            coalesce(latest.topology.epoch, -1),
            -1
        ) as topology_epoch,
        if(
            tells_epochs,
            coalesce(record.stored_description_topology_epoch, -1),
            -1
        ) as stored_description_topology_epoch,
        if(
            tells_epochs,
            coalesce(record.failed_description_topology_epoch, -1),
            -1
        ) as failed_description_topology_epoch,
        cast(member_count as int) as member_count,
        case
            when standing in ('simple', 'deleted') or not is_readable then null
            when kind = 2 then record.subscribed_topics
            when kind = 17 and group_state = 'EMPTY' then array()
            when kind = 17
                then coalesce(latest.topology.subscribed_topics, array())
            else array_sort(array_distinct(flatten(concat(
                transform(
                    live_members, m -> coalesce(m.subscribed_topics, array())
                ),
                transform(
                    filter(
                        coalesce(latest.regexes, array()),
                        r -> r.log_offset > made_after_log_offset
                    ),
                    r -> coalesce(r.subscribed_topics, array())
                )
            ))))
        end as subscribed_topics,
        standing = 'deleted' as is_deleted,
        is_readable,
        if(standing = 'deleted', 'broker', null) as deleted_by,
        case
            when group_state <> 'EMPTY' or standing = 'simple' then null
            when kind = 2 then record.state_at_ms
            else coalesce(
                array_max(
                    transform(
                        filter(departures, d -> d.kind = latest.kind),
                        d -> d.left_at_ms
                    )
                ),
                record.recorded_at_ms
            )
        end as empty_since_at_ms,
        if(standing = 'deleted', removed.recorded_at_ms, null) as deleted_at_ms,
        log_offset,
        tombstone_log_offset,
        last_commit_log_offset,
        removed_log_offset,
        run_id as changed_in_run_id

    from states_derived

)

select * from groups_folded
