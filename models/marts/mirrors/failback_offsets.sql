with

flows as (

    select * from {{ ref('stg_state__flows') }}

),

partitions as (

    select * from {{ ref('stg_state__mirrored_partitions') }}

),

groups as (

    select * from {{ ref('stg_state__groups') }}

    where not is_deleted

),

group_offsets as (

    select * from {{ ref('stg_state__group_offsets') }}

    where not is_deleted and committed_offset >= 0

),

{# whoever has read all before the copy of a sync has read all before the sync,
   and of replays the furthest counts #}
syncs as (

    select
        flow,
        topic_name,
        partition_index,
        struct(
            syncs.downstream_offset,
            syncs.upstream_offset,
            1 + max(syncs.upstream_offset) over (
                partition by flow, topic_name, partition_index
                order by syncs.downstream_offset
                range between unbounded preceding and 1 preceding
            ) as offset_before,
            syncs.sync_log_offset,
            lead(syncs.upstream_offset) over (
                partition by flow, topic_name, partition_index
                order by syncs.downstream_offset, syncs.sync_log_offset
            ) as next_upstream_offset
        ) as sync_known,
        if(partitions.incarnation > 0, syncs.recorded_at_ms, null) as began_at_ms

    from {{ ref('stg_state__offset_syncs') }} as syncs

    inner join partitions using (flow, topic_name, partition_index)

    where syncs.incarnation = partitions.incarnation

),

commits as (

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

),

timeline as (

    select
        flow,
        topic_name,
        partition_index,
        cast(null as string) as group_id,
        cast(null as string) as target_topic_name,
        sync_known.downstream_offset as committed_offset,
        cast(null as bigint) as commit_at_ms,
        0 as is_commit,
        sync_known,
        began_at_ms

    from syncs

    union all

    select
        flow,
        topic_name,
        partition_index,
        commits.group_id,
        commits.target_topic_name,
        commits.committed_offset,
        commits.commit_at_ms,
        1 as is_commit,
        null as sync_known,
        null as began_at_ms

    from commits

    inner join partitions using (flow, topic_name, partition_index)

),

looked_up as (

    select
        flow,
        topic_name,
        partition_index,
        group_id,
        target_topic_name,
        committed_offset,
        commit_at_ms,
        is_commit,
        max(sync_known) over (
            partition by flow, topic_name, partition_index
            order by committed_offset, is_commit
            rows between unbounded preceding and current row
        ) as sync_used,
        min(began_at_ms) over (partition by flow, topic_name, partition_index) as began_at_ms

    from timeline

),

{# what a group has committed in the target of before says nothing of this one #}
translated as (

    select
        *,
        coalesce(commit_at_ms < began_at_ms, false) as is_of_before,
        case
            when commit_at_ms < began_at_ms then null
            when sync_used is null then cast(-1 as bigint)
            when sync_used.downstream_offset = committed_offset
                then greatest(sync_used.upstream_offset, sync_used.offset_before)
            else greatest(sync_used.upstream_offset + 1, sync_used.offset_before)
        end as translated_offset

    from looked_up

    where is_commit = 1

),

offsets_compared as (

    select
        translated.flow,
        translated.group_id,
        translated.target_topic_name,
        translated.partition_index,
        translated.topic_name,
        translated.committed_offset,
        translated.translated_offset,
        if(
            translated.is_of_before or partitions.has_surplus or flows.is_exactly_once,
            null,
            try_add(
                translated.sync_used.upstream_offset,
                translated.committed_offset - translated.sync_used.downstream_offset
            )
        ) as anchored_offset,
        translated.sync_used.downstream_offset = translated.committed_offset
        and translated.sync_used.upstream_offset = translated.translated_offset
            as is_exact,
        translated.sync_used.next_upstream_offset,
        if(translated.is_of_before, null, translated.sync_used.sync_log_offset)
            as sync_log_offset,
        case
            when translated.is_of_before then 'COMMIT_FROM_OLD_INCARNATION'
            when translated.translated_offset < 0 then 'BEFORE_FIRST_SYNC'
            else {{ target_offset_reason(
                'translated.translated_offset',
                'groups.group_state',
                'source_offsets.committed_offset'
            ) }}
        end as reason_code,
        groups.group_state as source_group_state,
        source_offsets.committed_offset as source_offset

    from translated

    inner join flows using (flow)

    inner join partitions using (flow, topic_name, partition_index)

    left join groups
        on
            flows.source_cluster_id = groups.cluster_id
            and translated.group_id = groups.group_id

    left join group_offsets as source_offsets
        on
            flows.source_cluster_id = source_offsets.cluster_id
            and translated.group_id = source_offsets.group_id
            and translated.topic_name = source_offsets.topic_name
            and translated.partition_index = source_offsets.partition_index

),

failback_offsets as (

    select
        flow,
        group_id,
        target_topic_name,
        partition_index,
        topic_name,
        committed_offset,
        translated_offset,
        anchored_offset,
        case
            when is_exact then 0
            when next_upstream_offset >= translated_offset
                then next_upstream_offset - greatest(translated_offset, 0)
        end as reread_max,
        sync_log_offset,
        if(reason_code in ('TARGET_ABSENT', 'TARGET_BEHIND'), 'write', 'skip')
            as decision,
        reason_code,
        source_group_state,
        source_offset

    from offsets_compared

)

select * from failback_offsets
