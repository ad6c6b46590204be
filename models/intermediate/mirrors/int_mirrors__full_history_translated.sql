with

commits_placed as (

    select * from {{ ref('int_mirrors__commits_placed') }}

),

flows as (

    select * from {{ ref('int_mirrors__flows_configured') }}

),

partitions as (

    select * from {{ ref('stg_state__mirrored_partitions') }}

),

{# a first sync before which none is missing is of the first mirrored record, unless copies
   of before were left: by a replay, by a target that was cut back #}
gaps as (

    select
        syncs.flow,
        min(syncs.sync_log_offset) as first_gap_log_offset

    from {{ ref('stg_state__offset_syncs') }} as syncs

    left semi join flows
        on
            syncs.flow = flows.flow
            and flows.clamp_first

    where syncs.gap_before

    group by syncs.flow

),

commits_joined as (

    select
        placed.flow,
        placed.group_id,
        placed.topic_name,
        placed.partition_index,
        placed.upstream_offset,
        placed.offset_sync,
        placed.next_sync,
        placed.any_sync,
        placed.upstream_offset = placed.offset_sync.upstream_offset as is_exact,
        not flows.is_exactly_once
        and not partitions.has_surplus as is_sole_writer,
        flows.anchored,
        partitions.incarnation,
        partitions.parity_incarnation,
        if(
            flows.resets_at_rewind,
            partitions.parity_commits_valid_from_ms,
            partitions.commits_valid_from_ms
        ) as commits_valid_from_ms,
        if(
            flows.clamp_first
            and placed.offset_sync is null
            and if(
                flows.resets_at_rewind,
                partitions.parity_incarnation = 0
                or partitions.parity_first_downstream_offset = 0,
                partitions.incarnation = 0
                or partitions.first_downstream_offset = 0
            )
            and coalesce(
                gaps.first_gap_log_offset > if(
                    flows.resets_at_rewind,
                    partitions.parity_first_sync_log_offset,
                    partitions.first_sync_log_offset
                ),
                true
            ),
            if(
                flows.resets_at_rewind,
                partitions.parity_first_downstream_offset,
                partitions.first_downstream_offset
            ),
            null
        ) as clamped_offset

    from commits_placed as placed

    inner join flows using (flow)

    inner join partitions using (flow, topic_name, partition_index)

    left join gaps using (flow)

),

translations as (

    select
        *,
        case
            when offset_sync is null then coalesce(clamped_offset, -1)
            when is_exact then offset_sync.downstream_offset
            else offset_sync.downstream_offset + 1
        end as floor_offset,
        case
            when any_sync is null then -1
            when upstream_offset = any_sync.upstream_offset
                then any_sync.downstream_offset
            else any_sync.downstream_offset + 1
        end as waiting_offset,
        if(
            anchored
            and is_sole_writer
            and not is_exact
            and next_sync is not null,
            next_sync.downstream_offset
            - (next_sync.upstream_offset - upstream_offset),
            null
        ) as anchored_offset,
        case
            when offset_sync is null then clamped_offset
            when is_exact then offset_sync.downstream_offset
            else
                least(
                    next_sync.downstream_offset,
                    if(
                        is_sole_writer,
                        try_add(
                            offset_sync.downstream_offset,
                            upstream_offset - offset_sync.upstream_offset
                        ),
                        null
                    )
                )
        end as upper_bound

    from commits_joined

),

full_history_translated as (

    select
        flow,
        group_id,
        topic_name,
        partition_index,
        greatest(floor_offset, anchored_offset) as translated_offset,
        if(
            floor_offset < 0, null, greatest(floor_offset, anchored_offset)
        ) as lower_bound,
        upper_bound,
        waiting_offset,
        offset_sync.syncs_incarnation,
        offset_sync.sync_log_offset,
        incarnation,
        parity_incarnation,
        offset_sync.recorded_at_ms as sync_recorded_at_ms,
        commits_valid_from_ms,
        coalesce(anchored_offset > floor_offset, false) as is_anchored,
        clamped_offset is not null as is_clamped

    from translations

)

select * from full_history_translated
