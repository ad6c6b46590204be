{{ config(
    tags='apply_translate',
    unique_key=['flow', 'group_id', 'target_topic_name', 'partition_index'],
    meta={
        'into': 'state.checkpoints',
        'works_on': 'int_mirrors__checkpoints_to_emit_due',
        'matched_condition': 't.upstream_offset <=> s.previous_upstream_offset and t.downstream_offset <=> s.previous_downstream_offset',
        'update_set': {
            'topic_name': 's.topic_name',
            'upstream_offset': 's.upstream_offset',
            'downstream_offset': 's.downstream_offset',
            'metadata': 's.metadata',
            'incarnation': 's.incarnation',
            'parity_incarnation': 's.parity_incarnation',
            'syncs_incarnation': 's.syncs_incarnation',
            'sync_log_offset': 's.sync_log_offset',
            'previous_upstream_offset': 's.previous_upstream_offset',
            'previous_downstream_offset': 's.previous_downstream_offset',
            'emitted_by': 's.emitted_by',
            'is_readable': 's.is_readable',
            'emitted_at_ms': 's.emitted_at_ms',
            'changed_in_run_id': 's.changed_in_run_id'
        }
    }
) }}

-- depends_on: {{ ref('int_mirrors__decided') }}

with

checkpoints_due as (

    select * from {{ ref('int_mirrors__checkpoints_to_emit_due') }}

),

checkpoints_emitted as (

    select
        flow,
        group_id,
        target_topic_name,
        partition_index,
        topic_name,
        upstream_offset,
        downstream_offset,
        metadata,
        incarnation,
        parity_incarnation,
        syncs_incarnation,
        sync_log_offset,
        previous_upstream_offset,
        previous_downstream_offset,
        'moldau' as emitted_by,
        cast(-1 as bigint) as log_offset,
        true as is_readable,
        emitted_at_ms,
        changed_in_run_id

    from checkpoints_due

)

select * from checkpoints_emitted
