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

),

partitions as (

    select * from {{ ref('stg_state__mirrored_partitions') }}

),

stores as (

    select * from {{ ref('int_mirrors__sparse_stores_filled') }}

),

commits_placed as (

    select
        commits_due.flow,
        commits_due.group_id,
        commits_due.topic_name,
        commits_due.partition_index,
        commits_due.committed_offset,
        filter(
            stores.syncs_kept,
            kept -> kept.upstream_offset <= commits_due.committed_offset
        ) as older_syncs,
        filter(
            stores.syncs_kept,
            kept -> kept.upstream_offset > commits_due.committed_offset
        ) as newer_syncs,
        partitions.incarnation,
        partitions.parity_incarnation,
        not flows.is_exactly_once
        and not partitions.has_surplus as is_sole_writer

    from commits_due

    inner join flows using (flow)

    inner join stores using (flow, topic_name, partition_index)

    inner join partitions using (flow, topic_name, partition_index)

),

{# both are the nearest to the group #}
syncs_found as (

    select
        *,
        get(older_syncs, 0) as used,
        get(newer_syncs, size(newer_syncs) - 1) as next_sync

    from commits_placed

),

translations as (

    select
        *,
        case
            when used is null then cast(-1 as bigint)
            when used.upstream_offset = committed_offset
                then used.downstream_offset
            else used.downstream_offset + 1
        end as translated_offset

    from syncs_found

),

sparse_translated as (

    select
        flow,
        group_id,
        topic_name,
        partition_index,
        translated_offset,
        nullif(translated_offset, -1) as lower_bound,
        if(
            used.upstream_offset = committed_offset,
            used.downstream_offset,
            least(
                if(
                    used.incarnation = next_sync.incarnation,
                    next_sync.downstream_offset,
                    null
                ),
                if(
                    is_sole_writer,
                    try_add(
                        used.downstream_offset,
                        committed_offset - used.upstream_offset
                    ),
                    null
                )
            )
        ) as upper_bound,
        cast(null as bigint) as waiting_offset,
        used.syncs_incarnation,
        used.sync_log_offset,
        coalesce(used.incarnation, incarnation) as incarnation,
        coalesce(used.parity_incarnation, parity_incarnation)
            as parity_incarnation,
        used.recorded_at_ms as sync_recorded_at_ms,
        cast(null as bigint) as commits_valid_from_ms,
        false as is_anchored,
        false as is_clamped

    from translations

)

select * from sparse_translated
