{{ config(materialized='run_list') }}

with

flows as (

    select * from {{ ref('int_mirrors__flows_configured') }}

    where is_in_scope

),

checkpoints as (

    select * from {{ ref('stg_state__checkpoints') }}

    where downstream_offset is not null

),

partitions as (

    select * from {{ ref('stg_state__mirrored_partitions') }}

),

topics_renewed as (

    select * from {{ ref('int_mirrors__topics_renewed') }}

),

targets_renewed as (

    select * from {{ ref('int_mirrors__targets_renewed') }}

),

ends as (

    select * from {{ ref('int_mirrors__partition_ends') }}

),

syncs as (

    select * from {{ ref('stg_state__offset_syncs') }}

),

compared as (

    select
        checkpoints.flow,
        checkpoints.group_id,
        checkpoints.target_topic_name,
        checkpoints.partition_index,
        checkpoints.topic_name,
        checkpoints.incarnation,
        checkpoints.sync_log_offset,
        checkpoints.emitted_by,
        checkpoints.emitted_at_ms,
        flows.knows_incarnations
        and coalesce(checkpoints.incarnation < partitions.incarnation, false) as is_before_last,
        if(
            flows.knows_incarnations
            and partitions.incarnation > 0
            and checkpoints.incarnation is null,
            partitions.first_sync_log_offset,
            null
        ) as first_sync_log_offset,
        if(
            flows.knows_incarnations,
            coalesce(targets_renewed.valid_from_ms, topics_renewed.renewed_at_ms),
            null
        ) as valid_from_ms,
        targets_renewed.first_recorded_at_ms,
        if(
            checkpoints.downstream_offset > ends.log_end_offset, ends.taken_at_ms, null
        ) as ended_at_ms

    from checkpoints

    inner join flows
        on checkpoints.flow = flows.flow

    left join partitions
        on
            checkpoints.flow = partitions.flow
            and checkpoints.topic_name = partitions.topic_name
            and checkpoints.partition_index = partitions.partition_index

    left join targets_renewed
        on
            checkpoints.flow = targets_renewed.flow
            and checkpoints.topic_name = targets_renewed.topic_name
            and checkpoints.partition_index = targets_renewed.partition_index

    left join topics_renewed
        on
            flows.target_cluster_id = topics_renewed.cluster_id
            and checkpoints.target_topic_name = topics_renewed.topic_name

    left join ends
        on
            flows.target_cluster_id = ends.cluster_id
            and checkpoints.target_topic_name = ends.topic_name
            and checkpoints.partition_index = ends.partition_index

),

doubtful as (

    select * from compared

    where
        is_before_last
        or first_sync_log_offset is not null
        or valid_from_ms is not null
        or ended_at_ms is not null

),

{# a checkpoint is as old as the sync that it comes from. Without one MirrorMaker's word is
   all there is, and no younger sync tells that the target has grown since it ended #}
dated as (

    select
        doubtful.*,
        coalesce(
            syncs.recorded_at_ms,
            if(
                doubtful.emitted_by = 'moldau',
                doubtful.first_recorded_at_ms,
                doubtful.emitted_at_ms
            )
        ) < doubtful.valid_from_ms as is_of_old_target,
        doubtful.emitted_at_ms < first_syncs.recorded_at_ms as is_before_first,
        doubtful.ended_at_ms >= coalesce(syncs.recorded_at_ms, 0) as is_past_end

    from doubtful

    left join syncs
        on
            doubtful.flow = syncs.flow
            and doubtful.topic_name = syncs.topic_name
            and doubtful.partition_index = syncs.partition_index
            and doubtful.sync_log_offset = syncs.sync_log_offset

    left join syncs as first_syncs
        on
            doubtful.flow = first_syncs.flow
            and doubtful.topic_name = first_syncs.topic_name
            and doubtful.partition_index = first_syncs.partition_index
            and doubtful.first_sync_log_offset = first_syncs.sync_log_offset

),

checkpoints_refuted as (

    select
        flow,
        group_id,
        target_topic_name,
        partition_index,
        if(
            is_past_end and not is_before_last,
            'WOULD_EXCEED_TARGET_END',
            'CHECKPOINT_FROM_OLD_INCARNATION'
        ) as reason_code,
        coalesce(is_of_old_target, false) as is_of_old_target

    from dated

    where
        is_before_last
        or is_of_old_target
        or is_before_first
        or is_past_end

)

select * from checkpoints_refuted
