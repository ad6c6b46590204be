with

flows as (

    select * from {{ ref('stg_state__flows') }}

),

records as (

    select * from {{ ref('stg_decoded__group_records') }}

    where committed_topic_name is not null and committed_offset >= 0

),

syncs as (

    select
        *,
        struct(
            sync_log_offset, upstream_offset, downstream_offset, recorded_at_ms
        ) as sync_known

    from {{ ref('stg_state__offset_syncs') }}

),

{# in a stretch without a step back of source or target, syncs are in order of
   time and of both offsets at once #}
stretches as (

    select
        flow,
        topic_name,
        partition_index,
        parity_incarnation,
        incarnation,
        min(recorded_at_ms) as began_at_ms

    from syncs

    group by
        flow,
        topic_name,
        partition_index,
        parity_incarnation,
        incarnation

),

groups_filtered as (

    {{ names_filtered('records', 'group_id', 'flows', 'source_cluster_id', 'groups') }}

),

topics_filtered as (

    {{ names_filtered('records', 'committed_topic_name', 'flows', 'source_cluster_id', 'topics') }}

),

commits as (

    select
        flows.flow,
        records.group_id,
        records.committed_topic_name as topic_name,
        records.committed_partition_index as partition_index,
        records.log_offset,
        records.committed_offset,
        records.commit_at_ms

    from records

    inner join flows
        on records.cluster_id = flows.source_cluster_id

    left semi join groups_filtered
        on
            flows.flow = groups_filtered.flow
            and records.group_id = groups_filtered.group_id
            and not groups_filtered.is_filtered

    left semi join topics_filtered
        on
            flows.flow = topics_filtered.flow
            and records.committed_topic_name = topics_filtered.committed_topic_name
            and not topics_filtered.is_filtered

),

commits_by_stretch as (

    select
        commits.*,
        stretches.parity_incarnation,
        stretches.incarnation,
        max(stretches.incarnation) over (
            partition by
                commits.flow,
                commits.group_id,
                commits.topic_name,
                commits.partition_index,
                commits.log_offset
        ) as incarnation_then

    from commits

    left join stretches
        on
            commits.flow = stretches.flow
            and commits.topic_name = stretches.topic_name
            and commits.partition_index = stretches.partition_index
            and commits.commit_at_ms >= stretches.began_at_ms

),

timeline as (

    select
        flow,
        topic_name,
        partition_index,
        parity_incarnation,
        upstream_offset as committed_offset,
        recorded_at_ms as at_ms,
        0 as is_commit,
        sync_known,
        cast(null as string) as group_id,
        cast(null as bigint) as log_offset,
        incarnation

    from syncs

    union all

    select
        flow,
        topic_name,
        partition_index,
        parity_incarnation,
        committed_offset,
        commit_at_ms as at_ms,
        1 as is_commit,
        null as sync_known,
        group_id,
        log_offset,
        incarnation

    from commits_by_stretch

    where incarnation <=> incarnation_then

),

syncs_known as (

    select
        *,
        max(sync_known) over (
            partition by flow, topic_name, partition_index, parity_incarnation, incarnation
            order by committed_offset, is_commit
            rows between unbounded preceding and current row
        ) as nearest,
        max(sync_known) over (
            partition by flow, topic_name, partition_index, parity_incarnation, incarnation
            order by at_ms, is_commit
            rows between unbounded preceding and current row
        ) as newest

    from timeline

),

{# of a sync that was not written yet, the newest that was takes the place #}
best_known as (

    select
        flow,
        group_id,
        topic_name,
        partition_index,
        log_offset,
        committed_offset,
        at_ms as commit_at_ms,
        incarnation,
        max(if(nearest.recorded_at_ms <= at_ms, nearest, if(nearest is null, null, newest)))
            as sync_used

    from syncs_known

    where is_commit = 1

    group by
        flow,
        group_id,
        topic_name,
        partition_index,
        log_offset,
        committed_offset,
        at_ms,
        incarnation

),

commits_replayed as (

    select
        flow,
        group_id,
        topic_name,
        partition_index,
        log_offset,
        committed_offset,
        commit_at_ms,
        incarnation,
        case
            when incarnation is null then null
            when sync_used is null then cast(-1 as bigint)
            when sync_used.upstream_offset = committed_offset
                then sync_used.downstream_offset
            else sync_used.downstream_offset + 1
        end as translated_offset,
        sync_used.sync_log_offset

    from best_known

)

select * from commits_replayed
