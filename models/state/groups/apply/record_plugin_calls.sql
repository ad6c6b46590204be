{{ config(
    tags='apply_cycle',
    meta={
        'into': 'history.plugin_calls', 'write': 'append',
        'in_slices_of': 'int_groups__topology_deletes_due'
    }
) }}

{# the one model with an outside effect: the job that makes the calls writes
   the outcomes. A slice is one partition: of several Spark may give one worker
   one behind the other, and then a call that hangs would hold them twice #}
-- depends_on: {{ ref('int_groups__decided') }}

with

slice as (

    select * from {{ ref('stg_run__slice') }}

),

deletes_due as (

    select * from {{ ref('int_groups__topology_deletes_due') }}

),

deletes_of_the_slice as (  -- noqa: ST03

    select deletes_due.*

    from deletes_due

    left semi join slice using (slice_index)

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
            table(deletes_of_the_slice) partition by slice_index
        ) as calls_made

)

select * from calls_made
