{{ config(
    tags=['fold_offset_syncs', 'fold_partition_states', 'fold_consumer_offsets'],
    unique_key=['flow', 'topic_name', 'partition_index'],
    meta={
        'for_each': 'flows',
        'into': 'state.mirrored_partitions',
        'works_on': 'int_mirrors__sync_partitions_due',
        'delete_when': 's.is_gone',
        'insert_when': 'not s.is_gone',
        'matched_condition': differs([
            'syncs_incarnation',
            'sync_log_offset',
            'upstream_offset',
            'downstream_offset',
            'recorded_at_ms',
            'incarnation',
            'parity_incarnation',
            'segment_index',
            'old_head',
            'tail',
            'caught_up_offset',
            'is_admitted',
            'has_surplus',
            'commits_valid_from_ms',
            'parity_commits_valid_from_ms',
            'segment_first_sync_log_offset',
            'first_sync_log_offset',
            'first_downstream_offset',
            'parity_first_sync_log_offset',
            'parity_first_downstream_offset',
            'topic_recreated_at_ms'
        ])
    }
) }}

-- depends_on: {{ ref('fold_offset_syncs') }}
-- depends_on: {{ ref('int_mirrors__sync_partitions_due') }}

with

syncs_placed as (

    select * from {{ ref('int_mirrors__syncs_placed') }}

    where is_last

),

flows as (

    select * from {{ ref('int_mirrors__flows_configured') }}

),

stored as (

    select * from {{ ref('stg_state__mirrored_partitions') }}

),

{# of a flow that is another one now under the same name #}
gone as (

    select stored.*

    from stored

    left semi join flows
        on
            stored.flow = flows.flow
            and flows.is_refolded

    left anti join syncs_placed using (flow, topic_name, partition_index)

),

partitions_folded as (

    select
        placed.flow,
        placed.topic_name,
        placed.partition_index,
        placed.syncs_incarnation,
        placed.sync_log_offset,
        placed.upstream_offset,
        placed.downstream_offset,
        placed.recorded_at_ms,
        placed.incarnation,
        placed.parity_incarnation,
        placed.segment_index,
        placed.old_head,
        placed.tail,
        placed.caught_up_offset,
        placed.is_admitted,
        placed.has_surplus,
        placed.commits_valid_from_ms,
        placed.parity_commits_valid_from_ms,
        placed.segment_first_sync_log_offset,
        placed.first_sync_log_offset,
        placed.first_downstream_offset,
        placed.parity_first_sync_log_offset,
        placed.parity_first_downstream_offset,
        placed.topic_recreated_at_ms,
        flows.run_id as changed_in_run_id,
        false as is_gone

    from syncs_placed as placed

    inner join flows using (flow)

    union all

    select
        gone.flow,
        gone.topic_name,
        gone.partition_index,
        gone.syncs_incarnation,
        gone.sync_log_offset,
        gone.upstream_offset,
        gone.downstream_offset,
        gone.recorded_at_ms,
        gone.incarnation,
        gone.parity_incarnation,
        gone.segment_index,
        gone.old_head,
        gone.tail,
        gone.caught_up_offset,
        gone.is_admitted,
        gone.has_surplus,
        gone.commits_valid_from_ms,
        gone.parity_commits_valid_from_ms,
        gone.segment_first_sync_log_offset,
        gone.first_sync_log_offset,
        gone.first_downstream_offset,
        gone.parity_first_sync_log_offset,
        gone.parity_first_downstream_offset,
        gone.topic_recreated_at_ms,
        gone.changed_in_run_id,
        true as is_gone

    from gone

)

select * from partitions_folded
