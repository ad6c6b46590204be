with

remote_segments as (

    select * from {{ ref('stg_state__remote_segments') }}

),

closed_local_segments as (

    select * from {{ ref('int_tiers__local_segments_reasoned') }}

    where next_base_offset is not null

),

{# offsets are known to be closed from a finished copy, or from the disk #}
segments_dated as (

    select
        cluster_id,
        topic_id,
        partition_index,
        segment_id,
        size_bytes,
        max_timestamp_ms,
        if(finished_log_offset is null, null, start_offset) as base_offset,
        if(finished_log_offset is null, null, end_offset + 1)
            as next_base_offset,
        end_offset + 1 - start_offset as offset_count,
        copy_finished_at_ms,
        delete_finished_at_ms

    from remote_segments

    union all

    select
        cluster_id,
        topic_id,
        partition_index,
        null as segment_id,
        size_bytes,
        max_timestamp_ms,
        base_offset,
        next_base_offset,
        0 as offset_count,
        null as copy_finished_at_ms,
        null as delete_finished_at_ms

    from closed_local_segments

)

select * from segments_dated
