with

commits_due as (

    select * from {{ ref('int_mirrors__commits_due') }}

    where
        not is_group_filtered
        and not is_topic_filtered
        and committed_offset is not null

),

flows as (

    select * from {{ ref('int_mirrors__flows_configured') }}

    where syncs_used = 'all'

),

partitions as (

    select * from {{ ref('stg_state__mirrored_partitions') }}

),

all_syncs as (

    select * from {{ ref('stg_state__offset_syncs') }}

),

partitions_probed as (

    select
        commits_due.flow,
        commits_due.topic_name,
        commits_due.partition_index,
        min(commits_due.committed_offset) as first_committed_offset

    from commits_due

    group by
        commits_due.flow,
        commits_due.topic_name,
        commits_due.partition_index

),

syncs as (

    select
        all_syncs.*,
        probed.first_committed_offset,
        all_syncs.is_admitted or not flows.waits_for_replays as is_usable

    from all_syncs

    inner join partitions_probed as probed
        using (flow, topic_name, partition_index)

    inner join partitions using (flow, topic_name, partition_index)

    inner join flows using (flow)

    where
        if(
            flows.resets_at_rewind,
            all_syncs.parity_incarnation = partitions.parity_incarnation,
            all_syncs.incarnation = partitions.incarnation
        )

),

{# of the syncs before every group only the last one can be an answer, and the
   last of a replay that still waits #}
syncs_before as (

    select
        flow,
        topic_name,
        partition_index,
        max(if(is_usable, {{ sync_position() }}, null)) as last_usable,
        max({{ sync_position() }}) as last_sync

    from syncs

    where upstream_offset < first_committed_offset

    group by
        flow,
        topic_name,
        partition_index

),

syncs_probed as (

    select
        flow,
        topic_name,
        partition_index,
        {{ sync_position() }} as offset_sync

    from syncs

    where upstream_offset >= first_committed_offset

    union all

    select
        flow,
        topic_name,
        partition_index,
        last_usable as offset_sync

    from syncs_before

    where last_usable is not null

    union all

    select
        flow,
        topic_name,
        partition_index,
        last_sync as offset_sync

    from syncs_before

    where not last_sync.is_usable

)

select * from syncs_probed
