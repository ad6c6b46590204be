with

tables as (

    select * from {{ ref('stg_run__table_status') }}

),

table_status as (

    select
        table_name,
        row_count,
        file_count,
        size_bytes,
        table_version,
        timestamp_millis(written_at_ms) as written_at

    from tables

)

select * from table_status
