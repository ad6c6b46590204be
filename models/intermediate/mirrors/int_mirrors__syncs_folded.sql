with

placed as (

    select * from {{ ref('int_mirrors__syncs_placed') }}

),

partitions_due as (

    select * from {{ ref('int_mirrors__sync_partitions_due') }}

),

loaded as (

    select * from {{ ref('stg_run__offset_syncs') }}

),

records as (

    select * from {{ ref('stg_decoded__offset_syncs') }}

    where log_offset >= (
        select syncs_read.first_log_offset from {{ ref('int_mirrors__syncs_read') }} as syncs_read
    )

),

flows as (

    select * from {{ ref('int_mirrors__flows_configured') }}

),

stored as (

    select * from {{ ref('stg_state__offset_syncs') }}

),

{# syncs that stand right before a sync, of whatever partition: any other record hides
   what was before it #}
preceded as (

    select
        flows.flow,
        try_add(records.log_offset, 1) as sync_log_offset

    from records

    inner join flows
        on
            records.cluster_id = flows.syncs_cluster_id
            and records.log_topic_name = flows.syncs_topic_name

    left semi join placed
        on
            flows.flow = placed.flow
            and records.log_offset = placed.sync_log_offset - 1

    where {{ is_sync('records') }}

),

preceded_now as (

    select
        flows.flow,
        try_add(loaded.log_offset, 1) as sync_log_offset

    from loaded

    inner join flows
        on
            loaded.cluster_id = flows.syncs_cluster_id
            and loaded.log_topic_name = flows.syncs_topic_name

    where {{ is_sync('loaded') }}

),

segments_admitted_now as (

    select
        flow,
        topic_name,
        partition_index,
        segment_index

    from placed

    where
        is_stored
        and is_admitted
        and not was_admitted

),

{# a single row of literals becomes a literal, by which Delta skips files #}
unsettled as (

    select stored.*

    from stored

    left anti join partitions_due
        on
            stored.flow = partitions_due.flow
            and stored.topic_name = partitions_due.topic_name
            and stored.partition_index = partitions_due.partition_index
            and partitions_due.is_refolded

    where
        (not stored.is_admitted or stored.gap_before)
        and stored.sync_log_offset >= (
            select syncs_read.first_log_offset
            from {{ ref('int_mirrors__syncs_read') }} as syncs_read
        )

),

settled as (

    select
        unsettled.flow,
        unsettled.syncs_incarnation,
        unsettled.sync_log_offset,
        unsettled.topic_name,
        unsettled.partition_index,
        unsettled.upstream_offset,
        unsettled.downstream_offset,
        unsettled.incarnation,
        unsettled.parity_incarnation,
        unsettled.segment_index,
        unsettled.previous_sync_log_offset,
        unsettled.previous_upstream_offset,
        unsettled.previous_downstream_offset,
        unsettled.gap_before and preceded_now.flow is null as gap_before,
        unsettled.is_admitted or admitted_now.flow is not null as is_admitted,
        unsettled.recorded_at_ms

    from unsettled

    left join segments_admitted_now as admitted_now
        using (flow, topic_name, partition_index, segment_index)

    left join preceded_now using (flow, sync_log_offset)

    where
        (preceded_now.flow is not null and unsettled.gap_before)
        or (admitted_now.flow is not null and not unsettled.is_admitted)

),

{# of a flow that is another one now under the same name #}
gone as (

    select stored.*

    from stored

    left semi join flows
        on
            stored.flow = flows.flow
            and flows.is_refolded

    left anti join placed using (flow, syncs_incarnation, sync_log_offset)

),

syncs_folded as (

    select
        placed.flow,
        placed.syncs_incarnation,
        placed.sync_log_offset,
        placed.topic_name,
        placed.partition_index,
        placed.upstream_offset,
        placed.downstream_offset,
        placed.incarnation,
        placed.parity_incarnation,
        placed.segment_index,
        placed.previous_sync_log_offset,
        placed.previous_upstream_offset,
        placed.previous_downstream_offset,
        placed.sync_log_offset > 0 and preceded.flow is null as gap_before,
        placed.is_admitted,
        placed.recorded_at_ms,
        false as is_gone

    from placed

    left join preceded using (flow, sync_log_offset)

    where not placed.is_stored

    union all

    select
        settled.flow,
        settled.syncs_incarnation,
        settled.sync_log_offset,
        settled.topic_name,
        settled.partition_index,
        settled.upstream_offset,
        settled.downstream_offset,
        settled.incarnation,
        settled.parity_incarnation,
        settled.segment_index,
        settled.previous_sync_log_offset,
        settled.previous_upstream_offset,
        settled.previous_downstream_offset,
        settled.gap_before,
        settled.is_admitted,
        settled.recorded_at_ms,
        false as is_gone

    from settled

    union all

    select
        gone.flow,
        gone.syncs_incarnation,
        gone.sync_log_offset,
        gone.topic_name,
        gone.partition_index,
        gone.upstream_offset,
        gone.downstream_offset,
        gone.incarnation,
        gone.parity_incarnation,
        gone.segment_index,
        gone.previous_sync_log_offset,
        gone.previous_upstream_offset,
        gone.previous_downstream_offset,
        gone.gap_before,
        gone.is_admitted,
        gone.recorded_at_ms,
        true as is_gone

    from gone

)

select * from syncs_folded
