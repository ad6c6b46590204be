with

slice as (

    select * from {{ source('run', 'slice') }}

),

renamed as (

    select slice_index

    from slice

)

select * from renamed
