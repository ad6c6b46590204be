{{ config(materialized='run_list') }}

with

clusters as (

    select * from {{ ref('int_groups__clusters_configured') }}

),

state_groups as (

    select * from {{ ref('stg_state__groups') }}

),

decided as (

    select * from {{ ref('stg_decisions__cleanup_eligibility') }}

),

last_runs as (

    select * from {{ ref('int_groups__last_runs') }}

),

{{ groups_due('state_groups', 'decided', 'clusters', 'last_runs', 'cycle') }},

{# they are about to cause calls, and a writer beside moldau leaves no run_id #}
eligible_before as (

    select
        decided.cluster_id,
        decided.group_id,
        'eligible' as due_because

    from decided

    inner join clusters using (cluster_id)

    where decided.decision = 'eligible'

),

cleanup_groups_due as (

    select * from groups_due

    union all

    select * from eligible_before

)

select * from cleanup_groups_due
