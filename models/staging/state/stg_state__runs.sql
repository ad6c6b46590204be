with

runs as (

    select * from {{ source('state', 'runs') }}

),

renamed as (

    select
        run_id,
        kind,
        cluster_ids,
        status,
        is_dry_run,
        decided_at_ms,
        started_at_ms,
        finished_at_ms,
        counts,
        engine

    from runs

)

select * from renamed
