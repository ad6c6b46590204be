with

table_status as (

    select * from {{ source('run', 'table_status') }}

),

renamed as (

    select
        table_name,
        row_count,
        file_count,
        size_bytes,
        table_version,
        written_at_ms

    from table_status

)

select * from renamed
