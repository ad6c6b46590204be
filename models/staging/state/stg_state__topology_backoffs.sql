with

topology_backoffs as (

    select * from {{ source('state', 'topology_backoffs') }}

),

renamed as (

    select
        cluster_id,
        group_id,
        topology_epoch,
        attempts,
        next_attempt_at_ms,
        armed_at_ms,
        armed_log_offset,
        changed_in_run_id

    from topology_backoffs

)

select * from renamed
