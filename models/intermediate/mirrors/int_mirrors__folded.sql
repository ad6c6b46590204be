{# after every fold of the domain, before every decision #}
-- depends_on: {{ ref('record_settings') }}
-- depends_on: {{ ref('record_flows') }}
-- depends_on: {{ ref('fold_mirror_task_starts') }}
-- depends_on: {{ ref('fold_source_topics') }}

with

parameters as (

    select * from {{ ref('stg_run__parameters') }}

),

folded as (

    select run_id

    from parameters

)

select * from folded
