{{ config(materialized='run_list') }}

with

parameters as (

    select * from {{ ref('stg_run__parameters') }}

),

flows as (

    select * from {{ ref('int_mirrors__flows_configured') }}

),

last_runs as (

    select * from {{ ref('int_mirrors__last_runs') }}

),

commits as (

    select * from {{ ref('int_mirrors__commits_found') }}

),

decided as (

    select
        *,
        reason_code in (
            'GROUP_FILTERED',
            'TOPIC_FILTERED',
            'NO_COMMIT',
            'HISTORY_UNREADABLE',
            'SYNCS_NOT_CAUGHT_UP'
        ) as is_refused

    from {{ ref('stg_decisions__offset_translations') }}

),

partitions_changed as (

    select * from {{ ref('int_mirrors__partitions_changed') }}

),

{# a gap that a sync of another partition has filled may let a group be clamped #}
flows_synced as (

    select distinct flow from partitions_changed

),

checkpoints_changed as (

    select checkpoints.*

    from {{ ref('stg_state__checkpoints') }} as checkpoints

    left semi join last_runs
        on
            checkpoints.flow = last_runs.flow
            and checkpoints.changed_in_run_id > last_runs.run_id

),

{# moldau's own checkpoints among them come from the run that decided them #}
flows_restarted as (

    select distinct task_starts.flow

    from {{ ref('stg_state__mirror_task_starts') }} as task_starts

    inner join last_runs
        on
            task_starts.flow = last_runs.flow
            and task_starts.changed_in_run_id > last_runs.run_id

),

ends_measured as (

    select * from {{ ref('int_mirrors__partition_ends') }}

),

translations_outlived as (

    select * from {{ ref('int_mirrors__translations_outlived') }}

),

commits_joined as (

    select
        commits.*,
        decided.flow is null
        or last_runs.run_id is null
        or flows.run_kind = 'compare'
        or commits.changed_in_run_id > last_runs.run_id
        or decided.run_id = flows.run_id
        or {{ is_decision_stale('decided', 'flows') }}
        or coalesce(
            changed.flow is not null
            and (
                flows.syncs_used <> 'all'
                or decided.decision = 'emit'
                or commits.committed_offset >= changed.first_upstream_offset
                or changed.has_surplus
                or not changed.incarnation <=> decided.incarnation
                or not changed.parity_incarnation
                <=> decided.parity_incarnation
            ),
            false
        )
        or coalesce(
            flows_synced.flow is not null
            and flows.clamp_first
            and decided.translated_offset = -1,
            false
        )
        or checkpoints_changed.flow is not null
        or flows_restarted.flow is not null
        or coalesce(
            ends.run_id > last_runs.run_id
            and (
                decided.translated_offset > ends.log_end_offset
                or decided.reason_code = 'WOULD_EXCEED_TARGET_END'
            ),
            false
        )
        or outlived.flow is not null
        {# a topic that came home on a shorter way has taken its name #}
        or (
            commits.is_topic_filtered
            and decided.reason_code not in ('GROUP_FILTERED', 'TOPIC_FILTERED')
        )
        {# an id that became known says something else of the commit than was known of it #}
        or coalesce(
            flows.knows_incarnations
            and {{ tells_another_topic('commits', 'decided', 'changed') }},
            false
        )
        {# what is missing may be of any partition, and an end is known no longer #}
        or decided.reason_code = 'SYNCS_NOT_CAUGHT_UP'
        or (
            decided.reason_code = 'WOULD_EXCEED_TARGET_END'
            and ends.run_id is null
        ) as is_due

    from commits

    inner join flows using (flow)

    left join last_runs using (flow)

    left join decided
        using (flow, group_id, topic_name, partition_index)

    left join partitions_changed as changed
        using (flow, topic_name, partition_index)

    left join flows_synced using (flow)

    left join flows_restarted using (flow)

    left join checkpoints_changed
        on
            commits.flow = checkpoints_changed.flow
            and commits.group_id = checkpoints_changed.group_id
            and commits.target_topic_name
            = checkpoints_changed.target_topic_name
            and commits.partition_index = checkpoints_changed.partition_index

    left join translations_outlived as outlived
        using (flow, group_id, topic_name, partition_index)

    left join ends_measured as ends
        on
            flows.target_cluster_id = ends.cluster_id
            and commits.target_topic_name = ends.topic_name
            and commits.partition_index = ends.partition_index

),

{# of a flow that is configured no longer #}
gone as (

    select decided.*

    from decided

    cross join parameters

    left anti join flows
        on decided.flow = flows.flow

    where
        parameters.cluster_ids is null
        or array_contains(parameters.cluster_ids, decided.cluster_id)

),

commits_due as (

    select
        flow,
        cluster_id,
        group_id,
        topic_name,
        partition_index,
        target_topic_name,
        committed_offset,
        metadata,
        commit_at_ms,
        committed_topic,
        is_group_filtered,
        is_topic_filtered,
        false as is_gone

    from commits_joined

    where is_due

    union all

    select
        flow,
        cluster_id,
        group_id,
        topic_name,
        partition_index,
        target_topic_name,
        upstream_offset as committed_offset,
        metadata,
        commit_at_ms,
        cast(null as string) as committed_topic,
        true as is_group_filtered,
        true as is_topic_filtered,
        true as is_gone

    from gone

)

select * from commits_due
