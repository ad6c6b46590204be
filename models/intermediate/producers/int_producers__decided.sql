{# after every decision of the domain, before the first of them is applied #}
-- depends_on: {{ ref('int_producers__metadata_topics_decided') }}
-- depends_on: {{ ref('int_producers__metadata_rounds_decided') }}

with

parameters as (

    select * from {{ ref('stg_run__parameters') }}

),

decided as (

    select run_id

    from parameters

)

select * from decided
