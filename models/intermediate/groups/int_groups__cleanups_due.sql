{{ config(materialized='run_list') }}

with

clusters as (

    select * from {{ ref('int_groups__clusters_configured') }}

    where is_applied and has_plugin

),

eligible as (

    select * from {{ ref('int_groups__cleanup_eligibility_decided') }}

    where decision = 'eligible'

),

cleanups_due as (

    select
        clusters.run_id,
        eligible.cluster_id,
        eligible.group_id,
        eligible.observed_epoch,
        clusters.uses_uncertain_epoch as needs_barrier

    from eligible

    inner join clusters using (cluster_id)

)

select * from cleanups_due
