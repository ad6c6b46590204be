{# What moldau itself decided about a group and did with it, at the instants that
   its runs decided for. A name of a topic has no space, so that the last one in
   a subject ends the group's id. #}
with

runs as (

    select
        run_id,
        decided_at_ms

    from {{ ref('stg_state__runs') }}

),

decision_changes as (

    select
        *,
        split(subject, ' ')[0] as about,
        element_at(split(subject, ' '), -1) as named

    from {{ ref('stg_history__decision_changes') }}

    where
        domain = 'groups'
        and (
            startswith(subject, 'cleanup ')
            or startswith(subject, 'sweep ')
            or startswith(subject, 'offset ')
        )

),

decisions as (

    select
        cluster_id,
        if(
            about = 'offset',
            substring(subject, 8, length(subject) - 8 - length(named)),
            substring(subject, length(about) + 2)
        ) as group_id,
        decided_at_ms as event_at_ms,
        'DECIDED' as event,
        if(
            about = 'offset',
            substring(named, 1, length(named) - length(element_at(split(named, '-'), -1)) - 1),
            null
        ) as topic_name,
        if(about = 'offset', cast(element_at(split(named, '-'), -1) as int), null)
            as partition_index,
        previous_decision as value_before,
        decision as value_after,
        cast(null as string) as cause,
        about as value_name,
        run_id,
        cast(null as string) as deleted_by,
        reason_code,
        cast(null as string) as message,
        subject as told_by

    from decision_changes

),

tombstones as (

    select
        cluster_id,
        group_id,
        decided_at_ms as event_at_ms,
        if(topic_name is null, 'GROUP_DELETED', 'OFFSET_DELETED') as event,
        topic_name,
        partition_index,
        cast(committed_offset as string) as value_before,
        if(topic_name is null, 'DEAD', null) as value_after,
        if(removed_by = 'sweep', 'RETENTION', 'BEFORE_DUE') as cause,
        if(topic_name is null, 'group_state', 'committed_offset') as value_name,
        run_id,
        removed_by as deleted_by,
        cast(null as string) as reason_code,
        cast(null as string) as message,
        '' as told_by

    from {{ ref('stg_history__tombstones') }}

),

calls as (

    select
        plugin_calls.cluster_id,
        plugin_calls.group_id,
        coalesce(runs.decided_at_ms, plugin_calls.started_at_ms) as event_at_ms,
        'PLUGIN_CALL' as event,
        cast(null as string) as topic_name,
        cast(null as int) as partition_index,
        cast(plugin_calls.topology_epoch as string) as value_before,
        plugin_calls.outcome as value_after,
        cast(null as string) as cause,
        plugin_calls.operation as value_name,
        plugin_calls.run_id,
        cast(null as string) as deleted_by,
        cast(null as string) as reason_code,
        plugin_calls.message,
        plugin_calls.call_id as told_by

    from {{ ref('stg_history__plugin_calls') }} as plugin_calls

    left join runs using (run_id)

),

pushes as (

    select
        cluster_id,
        group_id,
        decided_at_ms as event_at_ms,
        'DESCRIPTION_STORED' as event,
        cast(null as string) as topic_name,
        cast(null as int) as partition_index,
        cast(null as string) as value_before,
        cast(stored_epoch_after as string) as value_after,
        cast(null as string) as cause,
        'stored_description_topology_epoch' as value_name,
        run_id,
        cast(null as string) as deleted_by,
        reason_code,
        cast(null as string) as message,
        request_id as told_by

    from {{ ref('int_groups__topology_push_results_decided') }}

    where outcome = 'success' and stored_epoch_after >= 0

),

clears as (

    select
        epoch_clears.cluster_id,
        epoch_clears.group_id,
        coalesce(runs.decided_at_ms, epoch_clears.written_at_ms) as event_at_ms,
        'DESCRIPTION_CLEARED' as event,
        cast(null as string) as topic_name,
        cast(null as int) as partition_index,
        cast(epoch_clears.observed_epoch as string) as value_before,
        cast(epoch_clears.epoch_after as string) as value_after,
        cast(null as string) as cause,
        'stored_description_topology_epoch' as value_name,
        epoch_clears.run_id,
        cast(null as string) as deleted_by,
        cast(null as string) as reason_code,
        cast(null as string) as message,
        epoch_clears.step as told_by

    from {{ ref('stg_history__epoch_clears') }} as epoch_clears

    left join runs using (run_id)

    where epoch_clears.outcome = 'cleared'

),

own_changes_told as (

    select * from decisions

    union all

    select * from tombstones

    union all

    select * from calls

    union all

    select * from pushes

    union all

    select * from clears

)

select * from own_changes_told
