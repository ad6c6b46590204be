with

partitions_due as (

    select distinct
        cluster_id,
        topic_id,
        partition_index

    from {{ ref('int_tiers__partitions_due') }}

),

segments_in_scope as (

    select
        segments.cluster_id,
        segments.segment_id,
        segments.topic_id,
        segments.topic_name,
        segments.partition_index,
        segments.start_offset,
        segments.end_offset,
        segments.segment_state,
        segments.size_bytes,
        segments.max_timestamp_ms,
        segments.leader_epochs,
        segments.started_broker_id,
        segments.delete_started_at_ms,
        segments.copy_finished_at_ms,
        segments.finished_log_offset

    from {{ ref('stg_state__remote_segments') }} as segments

    left semi join partitions_due using (cluster_id, topic_id, partition_index)

)

select * from segments_in_scope
