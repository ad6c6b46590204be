with

replay as (

    select * from {{ source('run', 'replay') }}

),

renamed as (

    select
        from_at_ms,
        to_at_ms

    from replay

)

select * from renamed
