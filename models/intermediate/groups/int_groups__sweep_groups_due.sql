{{ config(materialized='run_list') }}

with

clusters as (

    select * from {{ ref('int_groups__clusters_configured') }}

),

state_groups as (

    select * from {{ ref('stg_state__groups') }}

),

decided as (

    select * from {{ ref('stg_decisions__group_sweeps') }}

),

last_runs as (

    select * from {{ ref('int_groups__last_runs') }}

),

{{ groups_due(
    'state_groups', 'decided', 'clusters', 'last_runs', 'sweep', has_decision='not state_groups.is_deleted'
) }}

select * from groups_due
