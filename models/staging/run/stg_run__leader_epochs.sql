with

leader_epochs as (

    select * from {{ source('run', 'leader_epochs') }}

),

renamed as (

    select
        cluster_id,
        topic_id,
        topic_name,
        partition_index,
        epochs,
        run_id

    from leader_epochs

)

select * from renamed
