with

segments as (

    select * from {{ ref('int_tiers__segments_in_scope') }}

),

{{ epochs_superseded('segments') }},

segments_superseded as (

    select
        cluster_id,
        segment_id,
        leader_epoch,
        is_orphaned

    from epochs_superseded

)

select * from segments_superseded
