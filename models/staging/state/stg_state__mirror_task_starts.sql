with

mirror_task_starts as (

    select * from {{ source('state', 'mirror_task_starts') }}

),

renamed as (

    select
        flow,
        started_at_ms,
        syncs_end_offset,
        checkpoints_readable,
        changed_in_run_id

    from mirror_task_starts

)

select * from renamed
