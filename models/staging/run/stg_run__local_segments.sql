with

local_segments as (

    select * from {{ source('run', 'local_segments') }}

),

renamed as (

    select
        cluster_id,
        topic_id,
        topic_name,
        partition_index,
        broker_id,
        segments,
        run_id

    from local_segments

)

select * from renamed
