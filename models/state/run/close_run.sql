{{ config(
    into='state.runs',
    write='append'
) }}

-- depends_on: {{ ref('int_run__applied') }}

with

finished as (

    select * from {{ ref('stg_run__finished') }}

)

select * from finished
