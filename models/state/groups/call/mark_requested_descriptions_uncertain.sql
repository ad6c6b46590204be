{{ config(
    tags='call_requests',
    into='state.groups',
    works_on='int_groups__request_calls_due',
    works_when='needs_barrier',
    unique_key=['cluster_id', 'group_id'],
    matched_condition="not t.is_deleted and t.group_type = 'streams'"
        ~ ' and t.stored_description_topology_epoch <> -2'
        ~ " and (s.is_push or (t.group_state = 'EMPTY'"
        ~ ' and t.stored_description_topology_epoch <> -1))',
    update_set={
        'stored_description_topology_epoch': '-2',
        'stored_epoch_before_barrier': 't.stored_description_topology_epoch',
        'epochs_written_in_run_id': 's.run_id',
        'changed_in_run_id': 's.run_id'
    },
    insert_when=false
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
