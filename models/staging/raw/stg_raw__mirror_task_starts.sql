with

mirror_task_starts as (

    select * from {{ source('raw', 'mirror_task_starts') }}

),

renamed as (

    select
        cluster_id,
        flow,
        started_at_ms,
        syncs_end_offset,
        checkpoints_readable,
        run_id

    from mirror_task_starts

)

select * from renamed
