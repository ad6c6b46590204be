with

target_offset_writes as (

    select * from {{ ref('int_mirrors__target_offset_writes_decided') }}

),

flows as (

    select * from {{ ref('stg_state__flows') }}

),

groups as (

    select * from {{ ref('stg_state__groups') }}

    where not is_deleted

),

surplus_reason as (

    select
        reason_code,
        reason_text

    from {{ ref('reason_codes') }}

    where
        domain = 'mirrors'
        and decision_table = 'failover_readiness'

),

partitions as (

    select * from {{ ref('failover_partitions') }}

),

groups_counted as (

    select
        flow,
        group_id,
        count(*) as partitions,
        count_if(is_translated) as translated,
        count_if(is_translated and is_waiting_for_replay) as waiting_for_replays,
        {{ long_sum('reread_max', where='is_translated') }} as reread_max,
        count_if(is_translated and reread_max is null) as without_bound,
        {{ long_sum(
            'surplus_offsets',
            where="not is_translated and blocked_by = 'TARGET_HAS_SURPLUS'"
        ) }} as surplus_offsets,
        max(decided_at) as decided_at

    from partitions

    group by
        flow,
        group_id

),

reasons_counted as (

    select
        flow,
        group_id,
        blocked_by,
        count(*) as partitions

    from partitions

    where not is_translated

    group by
        flow,
        group_id,
        blocked_by

),

reasons_gathered as (

    select
        flow,
        group_id,
        map_from_entries(
            array_sort(collect_list(struct(blocked_by, partitions)))
        ) as blocked_by_reason

    from reasons_counted

    group by
        flow,
        group_id

),

writes_counted as (

    select
        flow,
        group_id,
        count_if(decision = 'write') as to_write,
        count_if(reason_code = 'TARGET_AHEAD') as target_ahead

    from target_offset_writes

    group by
        flow,
        group_id

),

failover_readiness as (

    select
        counted.flow,
        counted.group_id,
        flows.source_cluster_id,
        flows.target_cluster_id,
        counted.partitions,
        counted.translated,
        coalesce(
            gathered.blocked_by_reason, map()
        ) as blocked_by_reason,
        counted.waiting_for_replays,
        counted.reread_max,
        counted.without_bound,
        coalesce(writes.to_write, 0) as to_write,
        coalesce(writes.target_ahead, 0) as target_ahead,
        groups.group_state as target_group_state,
        counted.translated = counted.partitions
        and coalesce(groups.group_state in ('EMPTY', 'DEAD'), true) as is_ready,
        counted.decided_at,
        counted.surplus_offsets,
        surplus_reason.reason_text as advice

    from groups_counted as counted

    left join flows using (flow)

    left join reasons_gathered as gathered using (flow, group_id)

    left join writes_counted as writes using (flow, group_id)

    left join surplus_reason
        on
            if(counted.surplus_offsets is null, null, 'TARGET_HAS_SURPLUS')
            = surplus_reason.reason_code

    left join groups
        on
            flows.target_cluster_id = groups.cluster_id
            and counted.group_id = groups.group_id

)

select * from failover_readiness
