with

clusters as (

    select * from {{ ref('int_groups__clusters_configured') }}

),

live_groups as (

    select * from {{ ref('stg_state__groups') }}

    where not is_deleted

),

own_epochs as (

    select
        live_groups.cluster_id,
        live_groups.group_id,
        live_groups.stored_description_topology_epoch,
        live_groups.failed_description_topology_epoch,
        live_groups.epochs_written_in_run_id,
        live_groups.description_settled_in_run_id,
        greatest(live_groups.tombstone_log_offset, live_groups.log_offset)
            as log_offset

    from live_groups

    inner join clusters using (cluster_id)

    where
        clusters.authority = 'moldau'
        and live_groups.epochs_written_in_run_id is not null

)

select * from own_epochs
