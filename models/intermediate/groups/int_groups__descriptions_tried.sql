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

descriptions_tried as (

    select
        cleanups.run_id,
        cleanups.cluster_id,
        cleanups.group_id,
        cleanups.observed_epoch,
        cleanups.needs_barrier,
        calls.call_id is not null as is_called,
        coalesce(calls.outcome = 'success', false) as is_deleted_there,
        coalesce(state_groups.is_deleted, true) as is_gone,
        state_groups.group_type,
        state_groups.stored_description_topology_epoch as epoch_now,
        state_groups.description_settled_in_run_id <=> cleanups.run_id
            as is_settled

    from cleanups

    left join calls using (cluster_id, group_id)

    left join state_groups using (cluster_id, group_id)

)

select * from descriptions_tried
