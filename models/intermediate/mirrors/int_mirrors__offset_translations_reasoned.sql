{{ config(materialized='run_list') }}

with

commits_due as (

    select * from {{ ref('int_mirrors__commits_due') }}

    where not is_gone

),

flows as (

    select * from {{ ref('int_mirrors__flows_configured') }}

),

flows_behind as (

    select * from {{ ref('int_mirrors__flows_behind') }}

),

translated as (

    select * from {{ ref('int_mirrors__full_history_translated') }}

    union all

    select * from {{ ref('int_mirrors__sparse_translated') }}

),

checkpoints as (

    select * from {{ ref('stg_state__checkpoints') }}

),

ends as (

    select * from {{ ref('int_mirrors__partition_ends') }}

),

targets_renewed as (

    select * from {{ ref('int_mirrors__targets_renewed') }}

),

checkpoints_of_old_targets as (

    select * from {{ ref('int_mirrors__checkpoints_refuted') }}

    where is_of_old_target

),

commits_joined as (

    select
        commits.flow,
        commits.cluster_id,
        commits.group_id,
        commits.topic_name,
        commits.partition_index,
        commits.target_topic_name,
        commits.committed_offset as upstream_offset,
        commits.metadata,
        commits.commit_at_ms,
        flows.run_id,
        flows.ruleset,
        flows.settings_hash,
        flows.decided_at_ms,
        translated.translated_offset,
        translated.lower_bound,
        translated.upper_bound,
        translated.waiting_offset,
        translated.syncs_incarnation,
        translated.sync_log_offset,
        translated.incarnation,
        translated.parity_incarnation,
        coalesce(translated.is_anchored, false) as is_anchored,
        coalesce(translated.is_clamped, false) as is_clamped,
        checkpoints.upstream_offset as observed_upstream_offset,
        checkpoints.downstream_offset as observed_downstream_offset,
        checkpoints.emitted_by as observed_emitted_by,
        flows.knows_incarnations
        and coalesce(
            if(
                flows.resets_at_rewind,
                checkpoints.parity_incarnation
                <> translated.parity_incarnation,
                checkpoints.incarnation <> translated.incarnation
            )
            or outlived.flow is not null,
            false
        ) as is_of_other_incarnation,
        case
            when commits.is_group_filtered then 'GROUP_FILTERED'
            when commits.is_topic_filtered then 'TOPIC_FILTERED'
            when commits.committed_offset is null then 'NO_COMMIT'
            when not checkpoints.is_readable then 'HISTORY_UNREADABLE'
            when flows_behind.flow is not null then 'SYNCS_NOT_CAUGHT_UP'
            when translated.translated_offset is null then 'NO_SYNC'
            when flows.knows_incarnations and commits.committed_topic = 'later' then 'NO_SYNC'
            when
                flows.knows_incarnations
                and coalesce(
                    commits.committed_topic = 'earlier',
                    commits.commit_at_ms < translated.commits_valid_from_ms
                )
                then 'COMMIT_FROM_OLD_INCARNATION'
            when translated.translated_offset < 0 then 'BEFORE_FIRST_SYNC'
            when
                translated.translated_offset > ends.log_end_offset
                and ends.taken_at_ms >= coalesce(
                    translated.sync_recorded_at_ms, 0
                )
                then 'WOULD_EXCEED_TARGET_END'
            when
                coalesce(
                    translated.sync_recorded_at_ms, targets_renewed.first_recorded_at_ms
                ) < targets_renewed.valid_from_ms
                then 'SYNC_FROM_OLD_INCARNATION'
        end as refusal_code

    from commits_due as commits

    inner join flows using (flow)

    left join flows_behind using (flow)

    left join translated
        using (flow, group_id, topic_name, partition_index)

    left join checkpoints
        using (flow, group_id, target_topic_name, partition_index)

    left join checkpoints_of_old_targets as outlived
        using (flow, group_id, target_topic_name, partition_index)

    left join targets_renewed
        using (flow, topic_name, partition_index)

    left join ends
        on
            flows.target_cluster_id = ends.cluster_id
            and commits.target_topic_name = ends.topic_name
            and commits.partition_index = ends.partition_index

),

guarded as (

    select
        *,
        case
            when observed_downstream_offset is null then 'EMIT_FIRST'
            when is_of_other_incarnation then 'EMIT_NEW_INCARNATION'
            when upstream_offset < observed_upstream_offset
                then 'EMIT_GROUP_REWIND'
            when translated_offset > observed_downstream_offset
                then 'EMIT_ADVANCED'
            when waiting_offset > translated_offset then 'REPLAY_CATCHING_UP'
            when translated_offset = observed_downstream_offset
                then 'SKIP_REPEATED'
            else 'SKIP_DOWNSTREAM_REWIND'
        end as guard_code

    from commits_joined

),

reasons_found as (

    select
        *,
        case
            when refusal_code is not null then refusal_code
            when is_clamped and startswith(guard_code, 'EMIT_')
                then 'BEFORE_FIRST_SYNC_CLAMPED'
            else guard_code
        end as reason_code,
        refusal_code is null and startswith(guard_code, 'EMIT_')
            as is_emitted,
        coalesce(
            refusal_code in (
                'SYNCS_NOT_CAUGHT_UP',
                'NO_SYNC',
                'COMMIT_FROM_OLD_INCARNATION',
                'SYNC_FROM_OLD_INCARNATION'
            ),
            false
        ) as is_unproven

    from guarded

),

offset_translations_reasoned as (

    select
        cluster_id,
        flow,
        group_id,
        topic_name,
        partition_index,
        run_id,
        ruleset,
        settings_hash,
        if(is_emitted, 'emit', 'skip') as decision,
        reason_code,
        decided_at_ms,
        target_topic_name,
        upstream_offset,
        if(is_unproven, null, translated_offset) as translated_offset,
        if(is_unproven, null, lower_bound) as lower_bound,
        if(is_unproven, null, upper_bound) as upper_bound,
        if(is_unproven, null, upper_bound - lower_bound) as reread_max,
        if(
            not is_unproven and waiting_offset > translated_offset, waiting_offset, null
        ) as waiting_offset,
        if(is_unproven, null, syncs_incarnation) as syncs_incarnation,
        if(is_unproven, null, sync_log_offset) as sync_log_offset,
        incarnation,
        parity_incarnation,
        is_anchored and not is_unproven as is_anchored,
        if(upstream_offset is null, null, metadata) as metadata,
        if(upstream_offset is null, null, commit_at_ms) as commit_at_ms,
        observed_upstream_offset,
        observed_downstream_offset,
        observed_emitted_by,
        cast(null as bigint) as next_due_at_ms

    from reasons_found

)

select * from offset_translations_reasoned
