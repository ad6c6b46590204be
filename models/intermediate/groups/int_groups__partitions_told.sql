with

partition_states as (

    select * from {{ ref('stg_state__partition_states') }}

),

leaders_placed as (

    select
        *,
        {{ leader_place('topic_name') }} as leader_place

    from partition_states

    where is_leader

),

{# an offset below 0 stands for one that the broker did not tell #}
leaders as (

    select
        cluster_id,
        topic_name,
        partition_index,
        topic_id,
        if(log_start_offset >= 0, log_start_offset, null) as log_start_offset,
        if(last_stable_offset >= 0, last_stable_offset, null)
            as last_stable_offset,
        if(high_watermark >= 0, high_watermark, null) as high_watermark,
        if(log_end_offset >= 0, log_end_offset, null) as log_end_offset,
        taken_at_ms

    from leaders_placed

    where leader_place = 1

),

{# what all that were asked agree on, where the leader does not say #}
partitions as (

    select
        cluster_id,
        topic_name,
        partition_index,
        if(min(topic_id) = max(topic_id), min(topic_id), null) as topic_id

    from partition_states

    group by
        cluster_id,
        topic_name,
        partition_index

),

partitions_told as (

    select
        partitions.cluster_id,
        partitions.topic_name,
        partitions.partition_index,
        coalesce(leaders.topic_id, partitions.topic_id) as topic_id,
        leaders.log_start_offset,
        leaders.last_stable_offset,
        leaders.high_watermark,
        leaders.log_end_offset,
        leaders.taken_at_ms

    from partitions

    left join leaders using (cluster_id, topic_name, partition_index)

)

select * from partitions_told
