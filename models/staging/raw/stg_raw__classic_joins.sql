with

classic_joins as (

    select * from {{ source('raw', 'classic_joins') }}

),

renamed as (

    select
        cluster_id,
        request_id,
        group_id,
        member_id,
        received_at_ms,
        jitter,
        run_id

    from classic_joins

)

select * from renamed
