with

flows as (

    select * from {{ ref('stg_state__flows') }}

),

group_offsets as (

    select * from {{ ref('stg_state__group_offsets') }}

    where not is_deleted and committed_offset >= 0

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

    where
        group_offsets.group_id rlike flows.groups_pattern
        and not coalesce(
            group_offsets.group_id rlike flows.groups_excluded_pattern, false
        )

)

select * from target_commits
