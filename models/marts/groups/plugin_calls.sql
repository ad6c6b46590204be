with

calls as (

    select * from {{ ref('stg_history__plugin_calls') }}

),

plugin_calls as (

    select
        call_id,
        run_id,
        cluster_id,
        group_id,
        operation,
        topology_epoch,
        outcome,
        message,
        timestamp_millis(started_at_ms) as started_at,
        timestamp_millis(finished_at_ms) as finished_at,
        finished_at_ms - started_at_ms as duration_ms

    from calls

)

select * from plugin_calls
