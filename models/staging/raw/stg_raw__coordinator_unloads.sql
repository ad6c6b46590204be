with

coordinator_unloads as (

    select * from {{ source('raw', 'coordinator_unloads') }}

),

renamed as (

    select
        cluster_id,
        offsets_partition_index,
        at_ms,
        run_id

    from coordinator_unloads

)

select * from renamed
