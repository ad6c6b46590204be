{# after every fold of the domain, before every decision #}
-- depends_on: {{ ref('record_settings') }}
-- depends_on: {{ ref('record_producer_settings') }}
-- depends_on: {{ ref('fold_producer_topics') }}
-- depends_on: {{ ref('fold_producers') }}
-- depends_on: {{ ref('replace_producer_topics') }}
-- depends_on: {{ ref('replace_producers') }}

with

parameters as (

    select * from {{ ref('stg_run__parameters') }}

),

folded as (

    select run_id

    from parameters

)

select * from folded
