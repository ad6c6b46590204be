{# Tombstones of offsets, and whether the commit that went was due then, by the
   rule by which offsets expire. The group is taken as its log had it. #}
with

records as (

    select * from {{ ref('int_groups__records_followed') }}

),

gone as (

    select
        *,
        case
            when group_before is null then change_before is null
            else group_before.is_readable
        end as is_group_known,
        if(group_before.is_tombstone = false, group_before.kind, null) as group_kind

    from records

    where
        is_commit
        and is_tombstone
        {# of what was gone already nothing went #}
        and coalesce(not record_before.is_tombstone, true)

),

subscriptions as (

    select
        cluster_id,
        group_id,
        kind,
        log_offset,
        replaced_log_offset,
        subscribed_topics

    from records

    where record_type in (5, 16, 23) and not is_tombstone and subscribed_topics is not null

),

instants as (

    select distinct
        cluster_id,
        group_id,
        group_kind as kind,
        change_before.log_offset as change_log_offset

    from gone

    where group_kind in (3, 17)

),

topics_then as (

    select
        instants.cluster_id,
        instants.group_id,
        instants.kind,
        instants.change_log_offset,
        array_distinct(flatten(collect_list(subscriptions.subscribed_topics))) as topics

    from instants

    inner join subscriptions using (cluster_id, group_id, kind)

    where
        subscriptions.log_offset <= instants.change_log_offset
        and coalesce(subscriptions.replaced_log_offset > instants.change_log_offset, true)

    group by
        instants.cluster_id,
        instants.group_id,
        instants.kind,
        instants.change_log_offset

),

groups_then as (

    select
        gone.cluster_id,
        gone.group_id,
        gone.topic_name,
        gone.partition_index,
        gone.log_partition_index,
        gone.log_offset,
        gone.recorded_at_ms,
        gone.run_id,
        {# a record without a time does not tell when #}
        gone.is_group_known
        and gone.recorded_at_ms >= 0
        and coalesce(not gone.record_before.is_tombstone and gone.record_before.is_readable, false)
            as is_known,
        if(gone.record_before.is_tombstone = false, gone.record_before.committed_offset, null)
            as committed_offset,
        gone.record_before.commit_at_ms,
        gone.record_before.expire_at_ms,
        case coalesce(gone.group_kind, 2)
            when 2 then 'classic'
            when 3 then 'consumer'
            when 11 then 'share'
            when 17 then 'streams'
        end as group_type,
        case coalesce(gone.group_kind, 0)
            when 0 then ''
            when 2 then gone.group_before.protocol_type
            when 3 then 'consumer'
            when 11 then 'share'
            when 17 then 'streams'
        end as protocol_type,
        case coalesce(gone.group_kind, 0)
            when 0 then 0
            when 2 then gone.group_before.member_count
            else gone.members_known
        end as member_count,
        if(gone.group_kind = 2, gone.group_before.state_at_ms, null) as empty_since_at_ms,
        case
            when gone.group_kind is null then null
            when gone.group_kind = 2 then gone.group_before.subscribed_topics
            when gone.group_kind = 17 and gone.members_known = 0 then array()
            else coalesce(topics_then.topics, array())
        end as subscribed_topics,
        if(gone.group_kind is null, null, gone.change_before.recorded_at_ms) as changed_at_ms

    from gone

    left join topics_then
        on
            gone.cluster_id = topics_then.cluster_id
            and gone.group_id = topics_then.group_id
            and gone.group_kind = topics_then.kind
            and gone.change_before.log_offset = topics_then.change_log_offset

),

states_then as (

    select
        *,
        if(member_count = 0, 'EMPTY', 'STABLE') as group_state

    from groups_then

),

clocks_chosen as (

    select
        states_then.*,
        settings.offsets_retention_ms,
        settings.check_interval_ms,
        {{ expiry_clock('states_then', 'states_then') }} as expiry_clock,
        {{ is_subscribed('states_then', 'states_then.topic_name') }} as is_subscribed

    from states_then

    left join {{ ref('int_groups__settings_in_force') }} as settings
        on
            states_then.cluster_id = settings.cluster_id
            and states_then.recorded_at_ms >= settings.valid_from_ms
            and states_then.recorded_at_ms < settings.valid_to_ms

),

offsets_timed as (

    select
        *,
        {{ expires_at_ms('clocks_chosen', 'clocks_chosen.recorded_at_ms') }} as due_at_ms

    from clocks_chosen

),

offsets_gone as (

    select
        cluster_id,
        group_id,
        topic_name,
        partition_index,
        log_partition_index,
        log_offset,
        recorded_at_ms,
        run_id,
        committed_offset,
        case
            when not is_known or offsets_retention_ms is null then 'UNKNOWN'
            when expiry_clock is null or is_subscribed then 'BEFORE_DUE'
            when recorded_at_ms < due_at_ms then 'BEFORE_DUE'
            when
                recorded_at_ms
                <= try_add(greatest(due_at_ms, changed_at_ms), check_interval_ms)
                then 'RETENTION'
            else 'UNKNOWN'
        end as cause,
        if(is_known, expiry_clock, null) as expiry_clock,
        if(
            is_known and (offsets_retention_ms is not null or expiry_clock = 'explicit'),
            due_at_ms,
            null
        ) as due_at_ms,
        if(is_known, commit_at_ms, null) as commit_at_ms,
        offsets_retention_ms

    from offsets_timed

)

select * from offsets_gone
