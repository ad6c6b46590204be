with

topology_pushes as (

    select * from {{ source('raw', 'topology_pushes') }}

),

renamed as (

    select
        cluster_id,
        request_id,
        group_id,
        member_id,
        topology_epoch,
        topology_description,
        received_at_ms,
        jitter,
        coordinator_error,
        authorization_error,
        write_error,
        run_id

    from topology_pushes

)

select * from renamed
