{# after every decision of the domain, before the first of them is applied #}
-- depends_on: {{ ref('int_groups__cleanup_eligibility_decided') }}
-- depends_on: {{ ref('int_groups__offset_expirations_decided') }}
-- depends_on: {{ ref('int_groups__group_sweeps_decided') }}
-- depends_on: {{ ref('int_groups__classic_join_results_decided') }}
-- depends_on: {{ ref('int_groups__group_deletion_results_decided') }}
-- depends_on: {{ ref('int_groups__topology_push_results_decided') }}
-- depends_on: {{ ref('int_groups__heartbeat_gates_decided') }}

with

parameters as (

    select * from {{ ref('stg_run__parameters') }}

),

decided as (

    select run_id

    from parameters

)

select * from decided
