with

flows as (

    select * from {{ ref('int_mirrors__flows_configured') }}

    where is_in_scope

),

group_offsets as (

    select * from {{ ref('stg_state__group_offsets') }}

),

commits_found as (

    select
        flows.flow,
        flows.source_cluster_id as cluster_id,
        group_offsets.group_id,
        group_offsets.topic_name,
        group_offsets.partition_index,
        {{ target_topic_name('flows', 'group_offsets.topic_name') }}
            as target_topic_name,
        if(
            group_offsets.is_deleted or group_offsets.committed_offset < 0,
            null,
            group_offsets.committed_offset
        ) as committed_offset,
        coalesce(group_offsets.metadata, '') as metadata,
        group_offsets.commit_at_ms,
        not group_offsets.group_id rlike flows.groups_pattern
        or coalesce(
            group_offsets.group_id rlike flows.groups_excluded_pattern, false
        ) as is_group_filtered,
        not group_offsets.topic_name rlike flows.topics_pattern
        or coalesce(
            group_offsets.topic_name rlike flows.topics_excluded_pattern, false
        ) as is_topic_filtered,
        group_offsets.changed_in_run_id

    from group_offsets

    inner join flows
        on group_offsets.cluster_id = flows.source_cluster_id

)

select * from commits_found
