with

flows as (

    select * from {{ ref('stg_state__flows') }}

),

group_offsets as (

    select * from {{ ref('stg_state__group_offsets') }}

    where not is_deleted and committed_offset >= 0

),

groups_filtered as (

    {{ names_filtered('group_offsets', 'group_id', 'flows', 'target_cluster_id', 'groups') }}

),

target_commits as (

    select
        flows.flow,
        group_offsets.group_id,
        group_offsets.topic_name as target_topic_name,
        group_offsets.partition_index,
        {{ source_topic_name('flows', 'group_offsets.topic_name') }} as topic_name,
        group_offsets.committed_offset,
        group_offsets.commit_at_ms

    from group_offsets

    inner join flows
        on group_offsets.cluster_id = flows.target_cluster_id

    left semi join groups_filtered
        on
            flows.flow = groups_filtered.flow
            and group_offsets.group_id = groups_filtered.group_id
            and not groups_filtered.is_filtered

)

select * from target_commits
