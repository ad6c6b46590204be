with

state_groups as (

    select * from {{ ref('stg_state__groups') }}

),

offsets_counted as (

    select
        cluster_id,
        group_id,
        count_if(not is_deleted) as offset_count,
        max(commit_at_ms) as last_commit_at_ms

    from {{ ref('stg_state__group_offsets') }}

    group by
        cluster_id,
        group_id

),

groups as (

    select
        state_groups.cluster_id,
        state_groups.group_id,
        state_groups.group_type,
        state_groups.group_state,
        state_groups.protocol_type,
        case
            when state_groups.group_type <> 'streams' then null
            when state_groups.stored_description_topology_epoch = -2
                then 'uncertain'
            when state_groups.stored_description_topology_epoch >= 0
                then 'stored'
            when state_groups.failed_description_topology_epoch >= 0
                then 'rejected'
            else 'none'
        end as topology_description,
        state_groups.deleted_by,
        state_groups.offsets_partition_index,
        state_groups.member_count,
        coalesce(offsets_counted.offset_count, 0) as offset_count,
        state_groups.group_epoch,
        state_groups.topology_epoch,
        state_groups.stored_description_topology_epoch,
        state_groups.failed_description_topology_epoch,
        state_groups.is_deleted,
        state_groups.is_readable,
        {{ instant('offsets_counted.last_commit_at_ms') }} as last_commit_at,
        {{ instant('state_groups.empty_since_at_ms') }} as empty_since_at,
        {{ instant('state_groups.deleted_at_ms') }} as deleted_at,
        state_groups.subscribed_topics

    from state_groups

    left join offsets_counted using (cluster_id, group_id)

)

select * from groups
