with

local_segments as (

    select * from {{ ref('int_tiers__local_segments_checked') }}

    where is_leader

),

copied_offsets as (

    select * from {{ ref('int_tiers__copied_offsets') }}

),

local_bytes_summed as (

    select
        local_segments.cluster_id,
        local_segments.topic_id,
        local_segments.partition_index,
        sum(local_segments.size_bytes) as only_local_bytes

    from local_segments

    inner join copied_offsets using (cluster_id, topic_id, partition_index)

    where local_segments.base_offset > copied_offsets.copied_offset

    group by
        local_segments.cluster_id,
        local_segments.topic_id,
        local_segments.partition_index

)

select * from local_bytes_summed
