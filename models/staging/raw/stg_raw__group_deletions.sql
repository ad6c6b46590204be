with

group_deletions as (

    select * from {{ source('raw', 'group_deletions') }}

),

renamed as (

    select
        cluster_id,
        request_id,
        request_version,
        group_ids,
        received_at_ms,
        read_error,
        run_id

    from group_deletions

)

select * from renamed
