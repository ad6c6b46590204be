{{ config(materialized='run_list') }}

with

requests_handled as (

    select * from {{ ref('int_groups__requests_handled') }}

    where reason_code = 'CALL_WANTED'

),

topology_pushes as (

    select * from {{ ref('stg_raw__topology_pushes') }}

),

{# the calls of a group are made one behind the other #}
calls_in_turn as (

    select
        *,
        row_number() over (partition by cluster_id, group_id order by place)
        - 1 as turn

    from requests_handled

),

calls_placed as (

    select
        *,
        row_number() over (order by turn, cluster_id, group_id) - 1
            as call_place

    from calls_in_turn

),

request_calls_due as (

    select
        calls_placed.call_id,
        calls_placed.run_id,
        calls_placed.cluster_id,
        calls_placed.group_id,
        if(calls_placed.request_kind = 'push', 'set', 'delete')
            as operation,  -- noqa: RF04
        coalesce(calls_placed.pushed_epoch, calls_placed.stored_epoch_before)
            as topology_epoch,
        if(
            calls_placed.request_kind = 'push',
            topology_pushes.topology_description.description,
            null
        ) as description,
        calls_placed.uses_uncertain_epoch as needs_barrier,
        cast(calls_placed.turn as int) as turn,
        cast(calls_placed.call_place div 1000 as int) as slice_index

    from calls_placed

    left join topology_pushes using (cluster_id, request_id)

)

select * from request_calls_due
