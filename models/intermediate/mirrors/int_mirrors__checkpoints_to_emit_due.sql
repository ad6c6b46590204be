{{ config(materialized='run_list') }}

with

flows as (

    select * from {{ ref('int_mirrors__flows_configured') }}

    where is_in_scope

),

parameters as (

    select * from {{ ref('stg_run__parameters') }}

),

decided as (

    select * from {{ ref('int_mirrors__offset_translations_decided') }}

    where decision = 'emit'

),

checkpoints as (

    select * from {{ ref('stg_state__checkpoints') }}

),

{# also what a dry run decided; what is emitted already is another checkpoint
   than the one that was observed, or of another sync #}
checkpoints_to_emit_due as (

    select
        decided.flow,
        decided.group_id,
        decided.target_topic_name,
        decided.partition_index,
        decided.topic_name,
        decided.upstream_offset,
        decided.translated_offset as downstream_offset,
        decided.metadata,
        decided.incarnation,
        decided.parity_incarnation,
        decided.syncs_incarnation,
        decided.sync_log_offset,
        decided.observed_upstream_offset as previous_upstream_offset,
        decided.observed_downstream_offset as previous_downstream_offset,
        parameters.started_at_ms as emitted_at_ms,
        parameters.run_id as changed_in_run_id

    from decided

    left semi join flows
        on decided.flow = flows.flow

    cross join parameters

    left join checkpoints
        using (flow, group_id, target_topic_name, partition_index)

    where
        checkpoints.upstream_offset <=> decided.observed_upstream_offset
        and checkpoints.downstream_offset <=> decided.observed_downstream_offset
        and not (
            checkpoints.upstream_offset <=> decided.upstream_offset
            and checkpoints.downstream_offset <=> decided.translated_offset
            and checkpoints.incarnation <=> decided.incarnation
            and checkpoints.parity_incarnation <=> decided.parity_incarnation
        )

)

select * from checkpoints_to_emit_due
