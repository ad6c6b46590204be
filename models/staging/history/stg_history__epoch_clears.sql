with

epoch_clears as (

    select * from {{ source('history', 'epoch_clears') }}

),

renamed as (

    select
        run_id,
        cluster_id,
        group_id,
        step,
        observed_epoch,
        epoch_after,
        outcome,
        written_at_ms

    from epoch_clears

)

select * from renamed
