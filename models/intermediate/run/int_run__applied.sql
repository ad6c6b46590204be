-- depends_on: {{ ref('groups_decision_changes') }}

with

decided as (

    select * from {{ ref('int_run__decided') }}

),

applied as (

    select run_id

    from decided

)

select * from applied
