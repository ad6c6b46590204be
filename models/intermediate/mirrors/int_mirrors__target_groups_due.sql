{{ config(materialized='run_list') }}

with

parameters as (

    select * from {{ ref('stg_run__parameters') }}

),

flows as (

    select * from {{ ref('int_mirrors__flows_configured') }}

    where is_in_scope

),

flows_decided as (

    select
        flows.flow,
        flows.target_cluster_id,
        last_runs.run_id

    from flows

    inner join {{ ref('int_mirrors__last_runs') }} as last_runs using (flow)

),

commits_due as (

    select * from {{ ref('int_mirrors__commits_due') }}

),

decided as (

    select * from {{ ref('stg_decisions__target_offset_writes') }}

),

checkpoints as (

    select * from {{ ref('stg_state__checkpoints') }}

),

partitions_changed as (

    select * from {{ ref('int_mirrors__partitions_changed') }}

),

groups as (

    select * from {{ ref('stg_state__groups') }}

),

group_offsets as (

    select * from {{ ref('stg_state__group_offsets') }}

),

{# moldau's own of the last run were offered by it #}
checkpoints_changed as (

    select
        checkpoints.flow,
        checkpoints.group_id

    from checkpoints

    inner join flows_decided
        on
            checkpoints.flow = flows_decided.flow
            and checkpoints.changed_in_run_id > flows_decided.run_id

),

{# what is offered no longer, for the target partition began anew #}
checkpoints_over as (

    select
        checkpoints.flow,
        checkpoints.group_id

    from checkpoints

    inner join partitions_changed as changed
        on
            checkpoints.flow = changed.flow
            and checkpoints.topic_name = changed.topic_name
            and checkpoints.partition_index = changed.partition_index
            and coalesce(checkpoints.incarnation, 0) < changed.incarnation

),

{# the target's end, or its topic, is another one than when it was decided #}
refuted as (

    select * from {{ ref('int_mirrors__checkpoints_refuted') }}

),

refusals_changed as (

    select
        decided.flow,
        decided.group_id

    from decided

    inner join flows
        on decided.flow = flows.flow

    left join refuted
        on
            decided.flow = refuted.flow
            and decided.group_id = refuted.group_id
            and decided.target_topic_name = refuted.target_topic_name
            and decided.partition_index = refuted.partition_index

    where
        refuted.reason_code <> decided.reason_code
        or (
            refuted.reason_code is null
            and decided.reason_code in (
                'CHECKPOINT_FROM_OLD_INCARNATION', 'WOULD_EXCEED_TARGET_END'
            )
        )

),

groups_changed as (

    select
        flows_decided.flow,
        groups.group_id

    from groups

    inner join flows_decided
        on
            groups.cluster_id = flows_decided.target_cluster_id
            and groups.changed_in_run_id > flows_decided.run_id

),

offsets_changed as (

    select
        flows_decided.flow,
        group_offsets.group_id

    from group_offsets

    inner join flows_decided
        on
            group_offsets.cluster_id = flows_decided.target_cluster_id
            and group_offsets.changed_in_run_id > flows_decided.run_id

),

come_due as (

    select
        decided.flow,
        decided.group_id

    from decided

    inner join flows
        on decided.flow = flows.flow

    where
        flows.run_kind = 'compare'
        or decided.run_id = flows.run_id
        or {{ is_decision_stale('decided', 'flows') }}

),

{# of a flow that is configured no longer #}
gone as (

    select
        decided.flow,
        decided.group_id

    from decided

    cross join parameters

    left anti join {{ ref('int_mirrors__flows_configured') }} as flows
        on decided.flow = flows.flow

    where
        parameters.cluster_ids is null
        or array_contains(parameters.cluster_ids, decided.cluster_id)

),

target_groups_due as (

    select
        flow,
        group_id

    from commits_due

    union

    select * from checkpoints_changed

    union

    select * from checkpoints_over

    union

    select * from refusals_changed

    union

    select * from groups_changed

    union

    select * from offsets_changed

    union

    select * from come_due

    union

    select * from gone

)

select * from target_groups_due
