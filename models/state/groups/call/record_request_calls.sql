{{ config(
    tags='call_requests',
    meta={
        'into': 'history.plugin_calls',
        'write': 'append',
        'in_slices_of': 'int_groups__request_calls_due'
    }
) }}

{# behind the barrier only groups that it marked, or would mark now: where
   another writer was faster, the request is answered without a call #}
-- depends_on: {{ ref('int_groups__folded') }}
-- depends_on: {{ ref('mark_requested_descriptions_uncertain') }}

with

slice as (

    select * from {{ ref('stg_run__slice') }}

),

calls_due as (

    select * from {{ ref('int_groups__request_calls_due') }}

),

state_groups as (

    select * from {{ ref('stg_state__groups') }}

),

calls_of_the_slice as (  -- noqa: ST03

    select calls_due.*

    from calls_due

    left semi join slice using (slice_index)

    left join state_groups using (cluster_id, group_id)

    where
        not calls_due.needs_barrier
        or {{ is_markable('state_groups', "calls_due.operation = 'set'") }}

),

calls_made as (

    select
        calls_made.call_id,
        calls_made.run_id,
        calls_made.cluster_id,
        calls_made.group_id,
        calls_made.operation,
        calls_made.topology_epoch,
        calls_made.outcome,
        calls_made.message,
        calls_made.started_at_ms,
        calls_made.finished_at_ms,
        calls_made.withheld_message

    from
        call_plugin(
            table(calls_of_the_slice) partition by slice_index
        ) as calls_made

)

select * from calls_made
