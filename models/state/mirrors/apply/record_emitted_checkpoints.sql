{{ config(
    tags='apply_translate',
    meta={'into': 'history.checkpoints', 'write': 'append', 'skips_no_rows': true}
) }}

-- depends_on: {{ ref('int_mirrors__decided') }}
-- depends_on: {{ ref('emit_checkpoints') }}

with

parameters as (

    select * from {{ ref('stg_run__parameters') }}

),

checkpoints as (

    select checkpoints.*

    from {{ ref('stg_state__checkpoints') }} as checkpoints

    left semi join parameters
        on
            checkpoints.changed_in_run_id = parameters.run_id
            and checkpoints.emitted_by = 'moldau'

),

decided as (

    select * from {{ ref('int_mirrors__offset_translations_decided') }}

),

recorded as (

    select recorded.*

    from {{ ref('stg_history__checkpoints') }} as recorded

    inner join parameters
        on recorded.run_id = parameters.run_id

),

{# what this run emitted, a run that was killed half-way too #}
checkpoints_unrecorded as (

    select
        checkpoints.flow,
        checkpoints.group_id,
        checkpoints.target_topic_name,
        checkpoints.partition_index,
        checkpoints.changed_in_run_id as run_id,
        checkpoints.topic_name,
        checkpoints.upstream_offset,
        checkpoints.downstream_offset,
        checkpoints.metadata,
        checkpoints.incarnation,
        checkpoints.parity_incarnation,
        checkpoints.sync_log_offset,
        checkpoints.previous_upstream_offset,
        checkpoints.previous_downstream_offset,
        decided.reason_code,
        decided.ruleset,
        decided.decided_at_ms,
        checkpoints.emitted_at_ms

    from checkpoints

    inner join decided
        using (flow, group_id, topic_name, partition_index)

    left anti join recorded
        on
            checkpoints.flow = recorded.flow
            and checkpoints.group_id = recorded.group_id
            and checkpoints.target_topic_name = recorded.target_topic_name
            and checkpoints.partition_index = recorded.partition_index

)

select * from checkpoints_unrecorded
