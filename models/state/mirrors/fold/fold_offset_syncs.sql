{{ config(
    tags=['fold_offset_syncs', 'fold_partition_states', 'fold_consumer_offsets'],
    unique_key=['flow', 'syncs_incarnation', 'sync_log_offset'],
    meta={
        'for_each': 'flows',
        'into': 'state.offset_syncs',
        'works_on': 'int_mirrors__flows_configured',
        'works_when': flow_is_folded(),
        'pruned_by': 'sync_log_offset',
        'delete_when': 's.is_gone',
        'insert_when': 'not s.is_gone',
        'matched_condition': differs([
            'topic_name',
            'partition_index',
            'upstream_offset',
            'downstream_offset',
            'incarnation',
            'parity_incarnation',
            'segment_index',
            'previous_sync_log_offset',
            'previous_upstream_offset',
            'previous_downstream_offset',
            'gap_before',
            'is_admitted',
            'recorded_at_ms'
        ])
    }
) }}

with

syncs_folded as (

    select * from {{ ref('int_mirrors__syncs_folded') }}

),

flows as (

    select * from {{ ref('int_mirrors__flows_configured') }}

),

syncs_changed as (

    select
        syncs_folded.flow,
        syncs_folded.syncs_incarnation,
        syncs_folded.sync_log_offset,
        syncs_folded.topic_name,
        syncs_folded.partition_index,
        syncs_folded.upstream_offset,
        syncs_folded.downstream_offset,
        syncs_folded.incarnation,
        syncs_folded.parity_incarnation,
        syncs_folded.segment_index,
        syncs_folded.previous_sync_log_offset,
        syncs_folded.previous_upstream_offset,
        syncs_folded.previous_downstream_offset,
        syncs_folded.gap_before,
        syncs_folded.is_admitted,
        syncs_folded.recorded_at_ms,
        flows.run_id as changed_in_run_id,
        syncs_folded.is_gone

    from syncs_folded

    inner join flows using (flow)

)

select * from syncs_changed
