{{ config(materialized='run_list') }}

with

groups_due as (

    select * from {{ ref('int_groups__sweep_groups_due') }}

),

offset_expirations as (

    select * from {{ ref('int_groups__offset_expirations_reasoned') }}

),

offsets_due as (

    select offset_expirations.*

    from offset_expirations

    left semi join groups_due
        on
            offset_expirations.cluster_id = groups_due.cluster_id
            and offset_expirations.group_id = groups_due.group_id

)

select * from offsets_due
