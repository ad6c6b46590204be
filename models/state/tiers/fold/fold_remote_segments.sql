{{ config(
    tags='fold_remote_log_metadata',
    unique_key=['cluster_id', 'segment_id'],
    meta={'into': 'state.remote_segments', 'works_on': 'int_tiers__segment_events_due'}
) }}

with

parameters as (

    select * from {{ ref('stg_run__parameters') }}

),

segments_folded as (

    select
        due.cluster_id,
        due.segment_id,
        due.folded.segment.topic_id,
        due.folded.segment.topic_name,
        due.folded.segment.partition_index,
        due.folded.segment.start_offset,
        due.folded.segment.end_offset,
        due.folded.segment.size_bytes,
        due.folded.segment.max_timestamp_ms,
        due.folded.segment.leader_epochs,
        due.folded.segment.segment_state,
        due.folded.segment.broker_id,
        due.folded.segment.started_broker_id,
        due.folded.segment.event_at_ms,
        due.folded.segment.copy_started_at_ms,
        due.folded.segment.copy_finished_at_ms,
        due.folded.segment.delete_started_at_ms,
        due.folded.segment.delete_finished_at_ms,
        due.folded.segment.custom_metadata,
        due.folded.segment.log_topic_name,
        due.folded.segment.log_partition_index,
        due.folded.segment.log_offset,
        due.folded.segment.finished_log_offset,
        due.folded.segment.delete_started_log_offset,
        due.folded.segment.events,
        parameters.run_id as changed_in_run_id

    from {{ ref('int_tiers__segment_events_due') }} as due

    cross join parameters

    where due.folded.segment is not null

)

select * from segments_folded
