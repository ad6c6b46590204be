with

remote_segments as (

    select * from {{ ref('stg_state__remote_segments') }}

),

segments_counted as (

    select
        cluster_id,
        topic_id,
        partition_index,
        max_by(topic_name, copy_started_at_ms) as topic_name,
        max_by(log_partition_index, copy_started_at_ms)
            as metadata_partition_index,
        count_if(segment_state = 'COPY_SEGMENT_STARTED') as copying_segments,
        count_if(segment_state = 'COPY_SEGMENT_FINISHED') as remote_segments,
        count_if(segment_state = 'DELETE_SEGMENT_STARTED')
            as deleting_segments,
        sum(if(segment_state = 'COPY_SEGMENT_FINISHED', size_bytes, 0))
            as remote_bytes,
        sum(if(segment_state = 'DELETE_SEGMENT_FINISHED', 0, size_bytes))
            as live_bytes,
        min(if(segment_state = 'COPY_SEGMENT_FINISHED', start_offset, null))
            as earliest_remote_offset,
        max(if(segment_state = 'COPY_SEGMENT_FINISHED', end_offset, null))
            as latest_remote_offset,
        bool_or(segment_state <> 'DELETE_SEGMENT_FINISHED') as is_live

    from remote_segments

    group by
        cluster_id,
        topic_id,
        partition_index

)

select * from segments_counted
