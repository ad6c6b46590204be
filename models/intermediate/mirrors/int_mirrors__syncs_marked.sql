with

syncs_loaded as (

    select * from {{ ref('int_mirrors__syncs_loaded') }}

),

records as (

    select * from {{ ref('stg_decoded__offset_syncs') }}

),

flows as (

    select * from {{ ref('int_mirrors__flows_configured') }}

),

partitions_due as (

    select * from {{ ref('int_mirrors__sync_partitions_due') }}

),

partitions as (

    select * from {{ ref('stg_state__mirrored_partitions') }}

),

all_syncs as (

    {{ syncs_of('records') }}

),

{# where the history goes on: what is known after the last sync stands in for all before it #}
syncs_to_fold as (

    select
        partitions.flow,
        partitions.syncs_incarnation,
        partitions.sync_log_offset,
        partitions.topic_name,
        partitions.partition_index,
        partitions.upstream_offset,
        partitions.downstream_offset,
        partitions.recorded_at_ms,
        true as is_stored

    from partitions

    left semi join partitions_due
        on
            partitions.flow = partitions_due.flow
            and partitions.topic_name = partitions_due.topic_name
            and partitions.partition_index = partitions_due.partition_index
            and not partitions_due.is_refolded

    union all

    select
        syncs_loaded.flow,
        syncs_loaded.syncs_incarnation,
        syncs_loaded.sync_log_offset,
        syncs_loaded.topic_name,
        syncs_loaded.partition_index,
        syncs_loaded.upstream_offset,
        syncs_loaded.downstream_offset,
        syncs_loaded.recorded_at_ms,
        false as is_stored

    from syncs_loaded

    left semi join partitions_due
        on
            syncs_loaded.flow = partitions_due.flow
            and syncs_loaded.topic_name = partitions_due.topic_name
            and syncs_loaded.partition_index = partitions_due.partition_index
            and not partitions_due.is_refolded

    union all

    select
        all_syncs.flow,
        all_syncs.syncs_incarnation,
        all_syncs.sync_log_offset,
        all_syncs.topic_name,
        all_syncs.partition_index,
        all_syncs.upstream_offset,
        all_syncs.downstream_offset,
        all_syncs.recorded_at_ms,
        false as is_stored

    from all_syncs

    left semi join partitions_due
        on
            all_syncs.flow = partitions_due.flow
            and all_syncs.topic_name = partitions_due.topic_name
            and all_syncs.partition_index = partitions_due.partition_index
            and partitions_due.is_refolded

),

syncs_ordered as (

    select
        *,
        lag(sync_log_offset) over history as previous_sync_log_offset,
        lag(upstream_offset) over history as previous_upstream_offset,
        lag(downstream_offset) over history as previous_downstream_offset

    from syncs_to_fold

    window history as (
        partition by flow, topic_name, partition_index
        order by syncs_incarnation, sync_log_offset
    )

),

steps_measured as (

    select
        *,
        upstream_offset - previous_upstream_offset as upstream_step,
        downstream_offset - previous_downstream_offset as downstream_step

    from syncs_ordered

),

{# a sync that was sent twice begins nothing #}
syncs_marked as (

    select
        steps.flow,
        steps.syncs_incarnation,
        steps.sync_log_offset,
        steps.topic_name,
        steps.partition_index,
        steps.upstream_offset,
        steps.downstream_offset,
        steps.recorded_at_ms,
        steps.is_stored,
        steps.previous_sync_log_offset,
        steps.previous_upstream_offset,
        steps.previous_downstream_offset,
        steps.upstream_step,
        steps.downstream_step,
        coalesce(steps.downstream_step <= 0, false)
        and not (steps.upstream_step = 0 and steps.downstream_step = 0)
            as begins_incarnation,
        coalesce(
            steps.upstream_step < 0
            or (steps.downstream_step <= 0 and steps.upstream_step > 0),
            false
        ) as begins_parity_incarnation,
        coalesce(
            steps.downstream_step <= 0
            or steps.upstream_step <= 0
            or (
                not flows.is_exactly_once
                and steps.downstream_step > steps.upstream_step
            ),
            false
        )
        and not (steps.upstream_step = 0 and steps.downstream_step = 0)
            as begins_segment,
        coalesce(
            steps.upstream_step > 0
            and steps.downstream_step > steps.upstream_step,
            false
        ) as has_surplus_step

    from steps_measured as steps

    inner join flows using (flow)

)

select * from syncs_marked
