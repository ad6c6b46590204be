with

{# two brokers may claim to lead for a moment: the one of the higher epoch does #}
leaders as (

    select
        cluster_id,
        topic_name,
        partition_index,
        max(
            struct(
                coalesce(leader_epoch, -1) as leader_epoch,
                taken_at_ms,
                coalesce(
                    if(log_end_offset >= 0, log_end_offset, null),
                    if(high_watermark >= 0, high_watermark, null)
                ) as log_end_offset,
                run_id
            )
        ) as leader

    from {{ ref('stg_state__partition_states') }}

    where is_leader

    group by
        cluster_id,
        topic_name,
        partition_index

),

partition_ends as (

    select
        cluster_id,
        topic_name,
        partition_index,
        leader.log_end_offset,
        leader.taken_at_ms,
        leader.run_id

    from leaders

)

select * from partition_ends
