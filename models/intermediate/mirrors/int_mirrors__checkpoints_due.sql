{{ config(
    materialized='run_list',
    meta={
        'works_on': 'int_mirrors__flows_configured',
        'works_when': flow_is_folded()
    }
) }}

with

loaded as (

    select * from {{ ref('int_mirrors__checkpoints_loaded') }}

),

stored as (

    select * from {{ ref('stg_state__checkpoints') }}

),

partitions_due as (

    select * from {{ ref('int_mirrors__sync_partitions_due') }}

),

flows as (

    select * from {{ ref('int_mirrors__flows_configured') }}

),

{# what moldau has emitted since MirrorMaker wrote its record stays #}
loaded_beside_stored as (

    select
        loaded.*,
        stored.flow is null
        or flows.is_another
        or stored.emitted_by = 'mm2'
        or loaded.emitted_at_ms > stored.emitted_at_ms as is_last,
        stored.topic_name as stored_topic_name,
        stored.upstream_offset as stored_upstream_offset,
        stored.downstream_offset as stored_downstream_offset,
        stored.metadata as stored_metadata,
        stored.sync_log_offset as stored_sync_log_offset,
        stored.previous_upstream_offset as stored_previous_upstream_offset,
        stored.previous_downstream_offset
            as stored_previous_downstream_offset,
        stored.emitted_at_ms as stored_emitted_at_ms

    from loaded

    left join stored
        using (flow, group_id, target_topic_name, partition_index)

    inner join flows
        on loaded.flow = flows.flow

    where
        flows.is_refolded
        or stored.flow is null
        or loaded.log_offset > stored.log_offset

),

{# the syncs of a partition were numbered anew, or may explain now what none of
   them did; moldau itself knew where it stood. Those of another mirror under the
   same name guard nothing, and lead nowhere #}
stored_alone as (

    select
        stored.*,
        flows.run_id,
        flows.is_another

    from stored

    inner join flows
        on stored.flow = flows.flow

    left join partitions_due
        on
            stored.flow = partitions_due.flow
            and stored.topic_name = partitions_due.topic_name
            and stored.partition_index = partitions_due.partition_index

    left anti join loaded_beside_stored
        on
            stored.flow = loaded_beside_stored.flow
            and stored.group_id = loaded_beside_stored.group_id
            and stored.target_topic_name
            = loaded_beside_stored.target_topic_name
            and stored.partition_index = loaded_beside_stored.partition_index

    where
        flows.is_another
        or partitions_due.is_refolded
        or (
            partitions_due.flow is not null
            and stored.sync_log_offset is null
            and stored.emitted_by <> 'moldau'
        )

),

checkpoints_due as (

    select
        flow,
        group_id,
        target_topic_name,
        partition_index,
        if(is_last, topic_name, stored_topic_name) as topic_name,
        if(is_last, upstream_offset, stored_upstream_offset)
            as upstream_offset,
        if(is_last, downstream_offset, stored_downstream_offset)
            as downstream_offset,
        if(is_last, metadata, stored_metadata) as metadata,
        if(is_last, null, stored_sync_log_offset) as known_sync_log_offset,
        if(is_last, null, stored_previous_upstream_offset)
            as previous_upstream_offset,
        if(is_last, null, stored_previous_downstream_offset)
            as previous_downstream_offset,
        if(is_last, 'mm2', 'moldau') as emitted_by,
        log_offset,
        true as is_readable,
        if(is_last, emitted_at_ms, stored_emitted_at_ms) as emitted_at_ms,
        changed_in_run_id,
        false as is_gone

    from loaded_beside_stored

    union all

    select
        flow,
        group_id,
        target_topic_name,
        partition_index,
        topic_name,
        upstream_offset,
        downstream_offset,
        metadata,
        if(is_another or emitted_by = 'moldau', sync_log_offset, null)
            as known_sync_log_offset,
        previous_upstream_offset,
        previous_downstream_offset,
        emitted_by,
        log_offset,
        is_readable,
        emitted_at_ms,
        if(is_another, changed_in_run_id, run_id) as changed_in_run_id,
        is_another as is_gone

    from stored_alone

)

select * from checkpoints_due
