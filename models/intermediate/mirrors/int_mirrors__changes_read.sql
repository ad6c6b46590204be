{{ config(materialized='run_list', meta={'as_literals': true}) }}

with

last_runs as (

    select * from {{ ref('int_mirrors__last_runs') }}

),

changes_read as (

    select coalesce(min(run_id), '~') as since_run_id

    from last_runs

)

select * from changes_read
