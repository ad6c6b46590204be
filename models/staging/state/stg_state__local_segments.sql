with

local_segments as (

    select * from {{ source('state', 'local_segments') }}

),

renamed as (

    select
        cluster_id,
        topic_id,
        topic_name,
        partition_index,
        broker_id,
        segments,
        run_id,
        changed_in_run_id

    from local_segments

)

select * from renamed
