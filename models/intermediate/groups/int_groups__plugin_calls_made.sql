with

parameters as (

    select * from {{ ref('stg_run__parameters') }}

),

plugin_calls as (

    select * from {{ ref('stg_history__plugin_calls') }}

),

plugin_calls_made as (

    select
        call_id,
        run_id,
        cluster_id,
        group_id,
        operation,
        topology_epoch,
        outcome,
        message,
        started_at_ms,
        finished_at_ms,
        withheld_message

    from plugin_calls

    {# one row of literals becomes a literal, by which Delta skips files #}
    where run_id = (select parameters.run_id from parameters)

)

select * from plugin_calls_made
