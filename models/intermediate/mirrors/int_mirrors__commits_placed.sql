with

syncs_probed as (

    select * from {{ ref('int_mirrors__syncs_probed') }}

),

flows as (

    select * from {{ ref('int_mirrors__flows_configured') }}

    where syncs_used = 'all'

),

commits_due as (

    select * from {{ ref('int_mirrors__commits_due') }}

    where
        not is_group_filtered
        and not is_topic_filtered
        and committed_offset is not null

),

{# only the next sync of the topic tells how far the copies had come behind one:
   a step back between them would make it another story #}
syncs_followed as (

    select
        *,
        lead(offset_sync) over (
            partition by flow, topic_name, partition_index
            order by offset_sync.syncs_incarnation, offset_sync.sync_log_offset
        ) as next_sync

    from syncs_probed

),

timeline as (

    select
        flow,
        topic_name,
        partition_index,
        cast(null as string) as group_id,
        offset_sync.upstream_offset,
        0 as is_commit,
        offset_sync.syncs_incarnation,
        offset_sync.sync_log_offset,
        if(offset_sync.is_usable, struct(offset_sync, next_sync), null)
            as usable,
        offset_sync as any_sync

    from syncs_followed

    union all

    select
        commits_due.flow,
        commits_due.topic_name,
        commits_due.partition_index,
        commits_due.group_id,
        commits_due.committed_offset as upstream_offset,
        1 as is_commit,
        null as syncs_incarnation,
        null as sync_log_offset,
        null as usable,
        null as any_sync

    from commits_due

    left semi join flows using (flow)

),

{# among the syncs at or before a group the last one that was written is the
   best: downstream offsets only grow #}
looked_up as (

    select
        flow,
        topic_name,
        partition_index,
        group_id,
        upstream_offset,
        is_commit,
        max(usable) over so_far as usable,
        max(any_sync) over so_far as any_sync

    from timeline

    window so_far as (
        partition by flow, topic_name, partition_index
        order by upstream_offset, is_commit, syncs_incarnation, sync_log_offset
        rows between unbounded preceding and current row
    )

),

commits_placed as (

    select
        flow,
        group_id,
        topic_name,
        partition_index,
        upstream_offset,
        usable.offset_sync,
        if(
            usable.next_sync.previous_sync_log_offset
            = usable.offset_sync.sync_log_offset
            and usable.next_sync.upstream_offset > usable.offset_sync.upstream_offset
            and usable.next_sync.is_usable,
            usable.next_sync,
            null
        ) as next_sync,
        any_sync

    from looked_up

    where is_commit = 1

)

select * from commits_placed
