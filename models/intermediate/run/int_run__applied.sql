{# after the run's row, the last of what a run applies; before the marts #}
-- depends_on: {{ ref('close_run') }}

with

decided as (

    select * from {{ ref('int_run__decided') }}

),

applied as (

    select run_id

    from decided

)

select * from applied
