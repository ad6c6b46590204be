with

open_transactions as (

    select * from {{ source('run', 'open_transactions') }}

),

renamed as (

    select
        cluster_id,
        group_id,
        topic_name,
        partition_index,
        producer_id,
        run_id

    from open_transactions

)

select * from renamed
