{{ config(
    into='state.groups',
    unique_key=['cluster_id', 'group_id'],
    matched_condition="not t.is_deleted and t.group_type = 'streams'"
        ~ " and t.group_state = 'EMPTY'"
        ~ ' and t.stored_description_topology_epoch not in (-1, -2)',
    update_set={
        'stored_description_topology_epoch': '-2',
        'epochs_written_in_run_id': 's.run_id',
        'changed_in_run_id': 's.run_id'
    },
    insert_when=false
) }}

-- depends_on: {{ ref('int_run__decided') }}

with

clusters as (

    select * from {{ ref('int_groups__clusters_configured') }}

    where is_applied and has_plugin and uses_uncertain_epoch

),

eligible as (

    select * from {{ ref('int_groups__cleanup_eligibility_decided') }}

    where decision = 'eligible'

),

calls as (

    select * from {{ ref('int_groups__plugin_calls_made') }}

),

{# a group whose call is recorded is past the barrier: the run was killed and
   goes on #}
groups_to_mark as (

    select
        eligible.cluster_id,
        eligible.group_id,
        clusters.run_id

    from eligible

    inner join clusters
        on eligible.cluster_id = clusters.cluster_id

    left anti join calls
        on
            eligible.cluster_id = calls.cluster_id
            and eligible.group_id = calls.group_id

)

select * from groups_to_mark
