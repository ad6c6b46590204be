with

parameters as (

    select * from {{ source('run', 'parameters') }}

),

renamed as (

    select
        run_id,
        kind,
        load_kind,
        is_open,
        is_dry_run,
        at_ms,
        started_at_ms,
        cluster_ids,
        topic_name

    from parameters

)

select * from renamed
