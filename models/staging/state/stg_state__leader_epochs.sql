with

leader_epochs as (

    select * from {{ source('state', 'leader_epochs') }}

),

renamed as (

    select
        cluster_id,
        topic_id,
        topic_name,
        partition_index,
        epochs,
        run_id,
        changed_in_run_id

    from leader_epochs

)

select * from renamed
