with

state_groups as (

    select * from {{ ref('stg_state__groups') }}

    where group_type = 'streams' and not is_deleted

),

settings as (

    select * from {{ ref('stg_state__settings') }}

),

{# Kafka: GroupCoordinatorService.attachTopologyDescriptions asks the plugin only
   where the stored epoch is the one of the topology that runs #}
topology_descriptions as (

    select
        cluster_id,
        state_groups.group_id,
        state_groups.topology_epoch,
        state_groups.stored_description_topology_epoch,
        state_groups.failed_description_topology_epoch,
        coalesce(settings.has_plugin, false) as has_plugin,
        settings.plugin_name,
        if(
            coalesce(settings.has_plugin, false)
            and state_groups.topology_epoch >= 0
            and state_groups.stored_description_topology_epoch
            = state_groups.topology_epoch,
            'AVAILABLE',
            'NOT_STORED'
        ) as status

    from state_groups

    left join settings using (cluster_id)

)

select * from topology_descriptions
