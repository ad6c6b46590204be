{{ config(
    tags='apply_cycle',
    unique_key=['cluster_id', 'group_id'],
    meta={
        'into': 'state.groups',
        'matched_condition': "not t.is_deleted and t.group_type = 'streams'"
            ~ ' and not t.description_settled_in_run_id <=> s.run_id'
            ~ ' and if(s.was_uncertain, t.stored_description_topology_epoch <> -1,'
            ~ ' t.stored_description_topology_epoch = s.observed_epoch)',
        'update_set': {
            'stored_description_topology_epoch':
                'if(s.was_uncertain and t.stored_description_topology_epoch <> -2, -2, -1)',
            'epochs_written_in_run_id': 's.run_id',
            'description_settled_in_run_id': 's.run_id',
            'changed_in_run_id': 's.run_id'
        },
        'insert_when': false
    }
) }}

-- depends_on: {{ ref('int_groups__decided') }}
-- depends_on: {{ ref('record_plugin_calls') }}

with

clusters as (

    select * from {{ ref('int_groups__clusters_configured') }}

    {# a killed run may be finished after the authority was withdrawn #}
    where is_applied and has_plugin

),

calls as (

    select * from {{ ref('int_groups__plugin_calls_made') }}

),

descriptions_deleted as (

    select
        calls.cluster_id,
        calls.group_id,
        calls.run_id,
        calls.topology_epoch as observed_epoch,
        clusters.uses_uncertain_epoch as was_uncertain

    from calls

    inner join clusters using (cluster_id)

    where
        calls.operation = 'delete'
        and calls.outcome = 'success'

)

select * from descriptions_deleted
