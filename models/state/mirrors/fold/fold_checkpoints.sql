{{ config(
    tags=[
        'fold_offset_syncs',
        'fold_checkpoints',
        'fold_partition_states',
        'fold_consumer_offsets'
    ],
    unique_key=['flow', 'group_id', 'target_topic_name', 'partition_index'],
    meta={
        'for_each': 'flows',
        'into': 'state.checkpoints',
        'works_on': 'int_mirrors__checkpoints_due',
        'delete_when': 's.is_gone',
        'insert_when': 'not s.is_gone',
        'matched_condition': differs([
            'topic_name',
            'upstream_offset',
            'downstream_offset',
            'metadata',
            'incarnation',
            'parity_incarnation',
            'syncs_incarnation',
            'sync_log_offset',
            'previous_upstream_offset',
            'previous_downstream_offset',
            'emitted_by',
            'log_offset',
            'is_readable',
            'emitted_at_ms'
        ])
    }
) }}

-- depends_on: {{ ref('fold_offset_syncs') }}

with

checkpoints_due as (

    select * from {{ ref('int_mirrors__checkpoints_due') }}

),

checkpoints_explained as (

    select * from {{ ref('int_mirrors__checkpoints_explained') }}

),

checkpoints_folded as (

    select
        due.flow,
        due.group_id,
        due.target_topic_name,
        due.partition_index,
        due.topic_name,
        due.upstream_offset,
        due.downstream_offset,
        due.metadata,
        explained.incarnation,
        explained.parity_incarnation,
        explained.syncs_incarnation,
        explained.sync_log_offset,
        due.previous_upstream_offset,
        due.previous_downstream_offset,
        due.emitted_by,
        due.log_offset,
        due.is_readable,
        due.emitted_at_ms,
        due.changed_in_run_id,
        due.is_gone

    from checkpoints_due as due

    left join checkpoints_explained as explained
        using (flow, group_id, target_topic_name, partition_index)

)

select * from checkpoints_folded
