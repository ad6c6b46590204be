with

clusters as (

    select * from {{ ref('int_groups__clusters_configured') }}

    where is_applied and has_plugin

),

eligible as (

    select * from {{ ref('int_groups__cleanup_eligibility_decided') }}

    where decision = 'eligible'

),

state_groups as (

    select * from {{ ref('stg_state__groups') }}

),

calls as (

    select * from {{ ref('int_groups__plugin_calls_made') }}

),

descriptions_tried as (

    select
        clusters.run_id,
        eligible.cluster_id,
        eligible.group_id,
        eligible.observed_epoch,
        clusters.uses_uncertain_epoch,
        calls.call_id is not null as is_called,
        coalesce(calls.outcome = 'success', false) as is_deleted_there,
        coalesce(state_groups.is_deleted, true) as is_gone,
        state_groups.group_type,
        state_groups.stored_description_topology_epoch as epoch_now,
        state_groups.description_settled_in_run_id <=> clusters.run_id
            as is_settled

    from eligible

    inner join clusters
        on eligible.cluster_id = clusters.cluster_id

    left join calls
        on
            eligible.cluster_id = calls.cluster_id
            and eligible.group_id = calls.group_id

    left join state_groups
        on
            eligible.cluster_id = state_groups.cluster_id
            and eligible.group_id = state_groups.group_id

)

select * from descriptions_tried
