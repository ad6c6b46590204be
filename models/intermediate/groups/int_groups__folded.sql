{# after every fold of the domain, before every decision #}
-- depends_on: {{ ref('record_settings') }}
-- depends_on: {{ ref('fold_groups') }}
-- depends_on: {{ ref('replace_group_listings') }}
-- depends_on: {{ ref('replace_open_transactions') }}

with

parameters as (

    select * from {{ ref('stg_run__parameters') }}

),

folded as (

    select run_id

    from parameters

)

select * from folded
