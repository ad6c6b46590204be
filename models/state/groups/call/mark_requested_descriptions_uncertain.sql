{{ config(
    tags='call_requests',
    unique_key=['cluster_id', 'group_id'],
    meta={
        'into': 'state.groups',
        'works_on': 'int_groups__request_calls_due',
        'works_when': 'needs_barrier',
        'matched_condition': is_markable('t', 's.is_push')
            ~ ' and t.stored_description_topology_epoch <> -2',
        'update_set': {
            'stored_description_topology_epoch': '-2',
            'stored_epoch_before_barrier': 't.stored_description_topology_epoch',
            'epochs_written_in_run_id': 's.run_id',
            'changed_in_run_id': 's.run_id'
        },
        'insert_when': false
    }
) }}

-- depends_on: {{ ref('int_groups__folded') }}

with

calls_due as (

    select * from {{ ref('int_groups__request_calls_due') }}

    where needs_barrier

),

groups_to_mark as (

    select
        cluster_id,
        group_id,
        run_id,
        bool_or(operation = 'set') as is_push

    from calls_due

    group by
        cluster_id,
        group_id,
        run_id

)

select * from groups_to_mark
