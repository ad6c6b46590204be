with

flows as (

    select * from {{ ref('int_mirrors__flows_configured') }}

    where is_in_scope

),

group_offsets as (

    select * from {{ ref('stg_state__group_offsets') }}

),

topics_synced as (

    select * from {{ ref('int_mirrors__topics_synced') }}

),

topics_ordered as (

    select * from {{ ref('int_mirrors__source_topics_known') }}

),

{# mirrored topics that have their first name again on the target, of which several may
   come to have the same #}
topics_at_home as (

    select
        flows.flow,
        mirrored.topic_name,
        mirrored.partition_index,
        {{ target_topic_name('flows', 'mirrored.topic_name') }}
            as target_topic_name

    from {{ ref('stg_state__mirrored_partitions') }} as mirrored

    inner join flows using (flow)

    where
        not flows.keeps_topic_names
        and startswith(
            mirrored.topic_name,
            concat(flows.target_cluster_id, flows.separator)
        )

),

{# the one with the fewest names before its own #}
nearest_at_home as (

    select
        flow,
        target_topic_name,
        partition_index,
        min(struct(length(topic_name) as name_length, topic_name)) as nearest

    from topics_at_home

    group by
        flow,
        target_topic_name,
        partition_index

),

groups_filtered as (

    {{ names_filtered('group_offsets', 'group_id', 'flows', 'source_cluster_id', 'groups') }}

),

topics_filtered as (

    {{ names_filtered('group_offsets', 'topic_name', 'flows', 'source_cluster_id', 'topics') }}

),

commits as (

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
        group_offsets.topic_id,
        groups_filtered.is_filtered as is_group_filtered,
        topics_filtered.is_filtered as is_topic_filtered,
        group_offsets.changed_in_run_id

    from group_offsets

    inner join flows
        on group_offsets.cluster_id = flows.source_cluster_id

    left join groups_filtered
        on
            flows.flow = groups_filtered.flow
            and group_offsets.group_id = groups_filtered.group_id

    left join topics_filtered
        on
            flows.flow = topics_filtered.flow
            and group_offsets.topic_name = topics_filtered.topic_name

),

{# of a topic without syncs yet, which a commit without an id belongs to by its time #}
latest_topics as (

    select
        cluster_id,
        topic_name,
        max(struct(topic_number, known_since_ms)) as latest

    from topics_ordered

    group by
        cluster_id,
        topic_name

),

commits_found as (

    select
        commits.flow,
        commits.cluster_id,
        commits.group_id,
        commits.topic_name,
        commits.partition_index,
        commits.target_topic_name,
        commits.committed_offset,
        commits.metadata,
        commits.commit_at_ms,
        case
            when
                commits.topic_id is null
                and latest_topics.latest.topic_number > synced.topic_number
                and commits.commit_at_ms >= latest_topics.latest.known_since_ms
                then 'later'
            when commits.topic_id is null or synced.topic_id is null then null
            when commits.topic_id = synced.topic_id then 'same'
            when
                coalesce(
                    topics.topic_number > synced.topic_number,
                    commits.commit_at_ms > synced.known_until_ms
                )
                then 'later'
            else 'earlier'
        end as committed_topic,
        commits.is_group_filtered,
        commits.is_topic_filtered
        or coalesce(
            nearest_at_home.nearest.topic_name <> commits.topic_name, false
        ) as is_topic_filtered,
        commits.changed_in_run_id

    from commits

    left join nearest_at_home using (flow, target_topic_name, partition_index)

    left join topics_synced as synced
        on
            commits.flow = synced.flow
            and commits.topic_name = synced.topic_name
            and commits.partition_index = synced.partition_index

    left join topics_ordered as topics
        on
            commits.cluster_id = topics.cluster_id
            and commits.topic_name = topics.topic_name
            and commits.topic_id = topics.topic_id

    left join latest_topics
        on
            commits.cluster_id = latest_topics.cluster_id
            and commits.topic_name = latest_topics.topic_name

)

select * from commits_found
