with

partitions_due as (

    select distinct
        cluster_id,
        topic_id,
        partition_index

    from {{ ref('int_tiers__partitions_due') }}

),

local_segments as (

    select followed.*

    from {{ ref('int_tiers__local_segments_followed') }} as followed

    left semi join partitions_due using (cluster_id, topic_id, partition_index)

),

partition_states as (

    select * from {{ ref('stg_state__partition_states') }}

    where topic_id is not null

),

partitions_led as (

    select * from {{ ref('int_tiers__partitions_led') }}

),

local_segments_checked as (

    select
        cluster_id,
        topic_id,
        local_segments.topic_name,
        partition_index,
        broker_id,
        local_segments.base_offset,
        coalesce(
            local_segments.next_base_offset,
            greatest(partition_states.log_end_offset, local_segments.base_offset)
        ) as next_base_offset,
        local_segments.size_bytes,
        local_segments.max_timestamp_ms,
        local_segments.is_active,
        partition_states.broker_id is not null as has_partition_state,
        partitions_led.broker_id is not null as is_leader

    from local_segments

    left join partition_states using (cluster_id, topic_id, partition_index, broker_id)

    left join partitions_led using (cluster_id, topic_id, partition_index, broker_id)

)

select * from local_segments_checked
