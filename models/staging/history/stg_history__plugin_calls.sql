with

plugin_calls as (

    select * from {{ source('history', 'plugin_calls') }}

),

renamed as (

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

)

select * from renamed
