with

heartbeats as (

    select * from {{ source('raw', 'heartbeats') }}

),

renamed as (

    select
        cluster_id,
        request_id,
        group_id,
        member_id,
        request_version,
        member_epoch,
        response_error,
        status_codes,
        received_at_ms,
        jitter,
        run_id

    from heartbeats

)

select * from renamed
