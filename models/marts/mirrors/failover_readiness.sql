with

translations as (

    select * from {{ ref('int_mirrors__offset_translations_decided') }}

),

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

{# one that goes on from the last checkpoint is no worse off than with a new one #}
translations_sorted as (

    select
        translations.*,
        translations.decision = 'emit'
        or translations.reason_code in (
            'SKIP_REPEATED', 'SKIP_DOWNSTREAM_REWIND', 'REPLAY_CATCHING_UP'
        )
        or (
            offered.flow is not null
            and translations.reason_code in ('BEFORE_FIRST_SYNC', 'NO_SYNC')
        ) as is_translated,
        if(
            translations.upper_bound is null,
            null,
            greatest(
                translations.upper_bound
                - if(
                    translations.decision = 'emit',
                    translations.translated_offset,
                    greatest(
                        translations.translated_offset,
                        translations.observed_downstream_offset
                    )
                ),
                0
            )
        ) as records_reread

    from translations

    left join target_offset_writes as offered
        using (flow, group_id, target_topic_name, partition_index)

),

groups_counted as (

    select
        flow,
        group_id,
        count(*) as partitions,
        count_if(is_translated) as translated,
        count_if(reason_code = 'REPLAY_CATCHING_UP') as waiting_for_replays,
        {{ long_sum('records_reread', where='is_translated') }} as reread_max,
        count_if(is_translated and records_reread is null) as without_bound,
        max(decided_at_ms) as decided_at_ms

    from translations_sorted

    group by
        flow,
        group_id

),

reasons_counted as (

    select
        flow,
        group_id,
        reason_code,
        count(*) as partitions

    from translations_sorted

    where not is_translated

    group by
        flow,
        group_id,
        reason_code

),

reasons_gathered as (

    select
        flow,
        group_id,
        map_from_entries(
            array_sort(collect_list(struct(reason_code, partitions)))
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
        {{ instant('counted.decided_at_ms') }} as decided_at

    from groups_counted as counted

    left join flows using (flow)

    left join reasons_gathered as gathered using (flow, group_id)

    left join writes_counted as writes using (flow, group_id)

    left join groups
        on
            flows.target_cluster_id = groups.cluster_id
            and counted.group_id = groups.group_id

)

select * from failover_readiness
