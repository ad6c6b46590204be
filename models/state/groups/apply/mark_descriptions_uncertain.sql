{{ config(
    tags='apply_cycle',
    unique_key=['cluster_id', 'group_id'],
    meta={
        'into': 'state.groups',
        'works_on': 'int_groups__cleanups_due',
        'works_when': 'needs_barrier',
        'matched_condition': "not t.is_deleted and t.group_type = 'streams'"
            ~ " and t.group_state = 'EMPTY'"
            ~ ' and t.stored_description_topology_epoch not in (-1, -2)',
        'update_set': {
            'stored_description_topology_epoch': '-2',
            'epochs_written_in_run_id': 's.run_id',
            'changed_in_run_id': 's.run_id'
        },
        'insert_when': false
    }
) }}

-- depends_on: {{ ref('int_groups__decided') }}

with

cleanups as (

    select * from {{ ref('int_groups__cleanups_due') }}

    where needs_barrier

),

calls as (

    select * from {{ ref('int_groups__plugin_calls_made') }}

),

{# a group whose call is recorded is past the barrier: the run was killed and
   goes on #}
groups_to_mark as (

    select
        cleanups.cluster_id,
        cleanups.group_id,
        cleanups.run_id

    from cleanups

    left anti join calls using (cluster_id, group_id)

)

select * from groups_to_mark
