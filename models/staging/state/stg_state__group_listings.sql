with

group_listings as (

    select * from {{ source('state', 'group_listings') }}

),

renamed as (

    select
        cluster_id,
        group_id,
        group_type,
        group_state,
        protocol_type,
        coordinator_id,
        is_simple,
        taken_at_ms,
        run_id,
        changed_in_run_id

    from group_listings

)

select * from renamed
