with

flows as (

    select * from {{ ref('stg_state__flows') }}

),

partitions as (

    select * from {{ ref('stg_state__mirrored_partitions') }}

),

topics_renewed as (

    select * from {{ ref('int_mirrors__topics_renewed') }}

),

ends as (

    select * from {{ ref('int_mirrors__partition_ends') }}

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
            syncs.recorded_at_ms,
            min(syncs.recorded_at_ms) over (
                partition by flow, topic_name, partition_index
            ) as first_recorded_at_ms,
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

    select * from {{ ref('int_mirrors__target_commits') }}

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

{# what a snapshot tells of topics that no sync tells yet: commit and sync must be of the same
   target, and the syncs of the source as it is #}
renewals_joined as (

    select
        looked_up.*,
        coalesce(
            looked_up.commit_at_ms < looked_up.began_at_ms
            or (
                looked_up.commit_at_ms < targets.renewed_at_ms
                and not looked_up.sync_used.recorded_at_ms < targets.renewed_at_ms
            ),
            false
        ) as is_of_before,
        coalesce(
            sources.renewed_at_ms > coalesce(partitions.topic_recreated_at_ms, -1)
            or (
                looked_up.commit_at_ms >= targets.renewed_at_ms
                and looked_up.sync_used.recorded_at_ms < targets.renewed_at_ms
                and not (
                    partitions.incarnation > 0
                    and looked_up.sync_used.first_recorded_at_ms > targets.last_seen_before_at_ms
                )
            ),
            false
        ) as is_by_sync_of_before,
        not partitions.has_surplus and not flows.is_exactly_once as is_sole_writer,
        ends.log_end_offset as source_end_offset,
        ends.taken_at_ms as source_ended_at_ms

    from looked_up

    inner join flows
        on looked_up.flow = flows.flow

    inner join partitions
        on
            looked_up.flow = partitions.flow
            and looked_up.topic_name = partitions.topic_name
            and looked_up.partition_index = partitions.partition_index

    left join topics_renewed as sources
        on
            flows.source_cluster_id = sources.cluster_id
            and looked_up.topic_name = sources.topic_name

    left join topics_renewed as targets
        on
            flows.target_cluster_id = targets.cluster_id
            and looked_up.target_topic_name = targets.topic_name

    left join ends
        on
            flows.source_cluster_id = ends.cluster_id
            and looked_up.topic_name = ends.topic_name
            and looked_up.partition_index = ends.partition_index

    where looked_up.is_commit = 1

),

{# what a group has committed in the target of before says nothing of this one #}
translated as (

    select
        *,
        case
            when is_of_before or is_by_sync_of_before then null
            when sync_used is null then cast(-1 as bigint)
            when sync_used.downstream_offset = committed_offset
                then greatest(sync_used.upstream_offset, sync_used.offset_before)
            else greatest(sync_used.upstream_offset + 1, sync_used.offset_before)
        end as translated_offset

    from renewals_joined

),

failback_translated as (

    select
        flow,
        group_id,
        target_topic_name,
        partition_index,
        topic_name,
        committed_offset,
        translated_offset,
        if(
            is_sole_writer and translated_offset is not null,
            try_add(
                sync_used.upstream_offset, committed_offset - sync_used.downstream_offset
            ),
            null
        ) as anchored_offset,
        case
            when
                sync_used.downstream_offset = committed_offset
                and sync_used.upstream_offset = translated_offset
                then 0
            when sync_used.next_upstream_offset >= translated_offset
                then sync_used.next_upstream_offset - greatest(translated_offset, 0)
        end as reread_max,
        if(translated_offset is null, null, sync_used.sync_log_offset) as sync_log_offset,
        case
            when is_of_before then 'COMMIT_FROM_OLD_INCARNATION'
            when is_by_sync_of_before then 'SYNC_FROM_OLD_INCARNATION'
            when translated_offset < 0 then 'BEFORE_FIRST_SYNC'
            when
                translated_offset > source_end_offset
                and source_ended_at_ms >= sync_used.recorded_at_ms
                then 'WOULD_EXCEED_TARGET_END'
        end as refusal_code

    from translated

)

select * from failback_translated
