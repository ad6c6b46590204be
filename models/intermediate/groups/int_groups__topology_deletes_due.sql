{{ config(materialized='run_list') }}

-- depends_on: {{ ref('mark_descriptions_uncertain') }}

with

cleanups as (

    select * from {{ ref('int_groups__cleanups_due') }}

),

state_groups as (

    select * from {{ ref('stg_state__groups') }}

),

calls as (

    select * from {{ ref('int_groups__plugin_calls_made') }}

),

{# with an uncertain epoch only groups that the barrier left at -2; without
   one the decision stands, whatever became of the group #}
deletes_chosen as (

    select
        cleanups.cluster_id,
        cleanups.group_id,
        cleanups.run_id,
        cleanups.observed_epoch as topology_epoch,
        row_number() over (
            order by cleanups.cluster_id, cleanups.group_id
        ) - 1 as place

    from cleanups

    left join state_groups using (cluster_id, group_id)

    left anti join calls using (cluster_id, group_id)

    where
        not cleanups.needs_barrier
        or (
            not state_groups.is_deleted
            and state_groups.group_type = 'streams'
            and state_groups.group_state = 'EMPTY'
            and state_groups.stored_description_topology_epoch = -2
        )

),

deletes_due as (

    select
        {{ call_id('run_id', 'cluster_id', 'group_id', "'delete'") }} as call_id,
        run_id,
        cluster_id,
        group_id,
        'delete' as operation,  -- noqa: RF04
        topology_epoch,
        cast(place div 1000 as int) as slice_index

    from deletes_chosen

)

select * from deletes_due
