{{ config(materialized='run_list') }}

with

events as (

    select * from {{ ref('int_tiers__segment_events_gathered') }}

),

stored as (

    select * from {{ ref('stg_state__remote_segments') }}

),

events_collected as (

    select
        cluster_id,
        segment_id,
        is_refolded,
        array_sort(
            collect_list(
                struct(
                    log_topic_name,
                    log_partition_index,
                    log_offset,
                    is_full,
                    segment_state,
                    topic_id,
                    topic_name,
                    partition_index,
                    start_offset,
                    end_offset,
                    broker_id,
                    event_at_ms,
                    max_timestamp_ms,
                    leader_epochs,
                    size_bytes,
                    custom_metadata
                )
            )
        ) as events

    from events

    group by
        cluster_id,
        segment_id,
        is_refolded

),

segments_before as (

    select
        events_collected.cluster_id,
        events_collected.segment_id,
        events_collected.is_refolded,
        events_collected.events,
        if(
            events_collected.is_refolded or stored.segment_id is null,
            null,
            struct(
                stored.topic_id,
                stored.topic_name,
                stored.partition_index,
                stored.start_offset,
                stored.end_offset,
                stored.size_bytes,
                stored.max_timestamp_ms,
                stored.leader_epochs,
                stored.segment_state,
                stored.broker_id,
                stored.started_broker_id,
                stored.event_at_ms,
                stored.copy_started_at_ms,
                stored.copy_finished_at_ms,
                stored.delete_started_at_ms,
                stored.delete_finished_at_ms,
                stored.custom_metadata,
                stored.log_topic_name,
                stored.log_partition_index,
                stored.log_offset,
                stored.finished_log_offset,
                stored.delete_started_log_offset,
                stored.events
            )
        ) as segment

    from events_collected

    left join stored using (cluster_id, segment_id)

),

segment_events_due as (

    select
        cluster_id,
        segment_id,
        is_refolded,
        aggregate(
            events,
            struct(segment, {{ no_rejected_events() }} as rejected),
            (folded, event) -> {{ segment_folded('folded', 'event') }}
        ) as folded

    from segments_before

)

select * from segment_events_due
