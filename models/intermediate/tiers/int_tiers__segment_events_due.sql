{{ config(materialized='run_list') }}

with

stored as (

    select * from {{ ref('stg_state__remote_segments') }}

),

{# a single row of literals becomes a literal, by which Delta skips files #}
loaded as (

    select * from {{ ref('stg_decoded__remote_log_records') }}

    where
        run_id = (select this_run.run_id from {{ ref('stg_run__parameters') }} as this_run)
        and record_type in (0, 1)
        and segment_state is not null

),

all_records as (

    select * from {{ ref('stg_decoded__remote_log_records') }}

    where
        record_type in (0, 1)
        and segment_state is not null

),

rejected as (

    select * from {{ ref('stg_history__rejected_segment_events') }}

),

segments_loaded as (

    select
        cluster_id,
        segment_id,
        min(log_offset) as first_log_offset,
        min(struct(log_topic_name, log_partition_index)) as first_partition,
        max(struct(log_topic_name, log_partition_index)) as last_partition

    from loaded

    group by
        cluster_id,
        segment_id

),

{# what comes before the last event that was folded, or beside one that was
   not taken, is read again from the first #}
segments_to_refold as (

    select
        segments_loaded.cluster_id,
        segments_loaded.segment_id

    from segments_loaded

    left join stored using (cluster_id, segment_id)

    left join rejected using (cluster_id, segment_id)

    where
        segments_loaded.first_log_offset <= stored.log_offset
        or segments_loaded.first_partition
        <> struct(stored.log_topic_name, stored.log_partition_index)
        or segments_loaded.last_partition
        <> struct(stored.log_topic_name, stored.log_partition_index)
        or rejected.segment_id is not null

),

events_to_fold as (

    select
        loaded.*,
        false as is_refolded

    from loaded

    left anti join segments_to_refold using (cluster_id, segment_id)

    union all

    select
        all_records.*,
        true as is_refolded

    from all_records

    left semi join segments_to_refold using (cluster_id, segment_id)

),

events as (

    select
        cluster_id,
        segment_id,
        is_refolded,
        log_topic_name,
        log_partition_index,
        log_offset,
        record_type = 0 as is_full,
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

    from events_to_fold

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
