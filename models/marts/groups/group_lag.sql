with

live_offsets as (

    select * from {{ ref('stg_state__group_offsets') }}

    where not is_deleted

),

ends_known as (

    select
        cluster_id,
        topic_name,
        partition_index,
        max_by(
            struct(nullif(log_end_offset, -1) as log_end_offset, taken_at_ms),
            is_leader
        ) as latest

    from {{ ref('stg_state__partition_states') }}

    group by
        cluster_id,
        topic_name,
        partition_index

),

group_lag as (

    select
        live_offsets.cluster_id,
        live_offsets.group_id,
        live_offsets.topic_name,
        live_offsets.partition_index,
        live_offsets.committed_offset,
        ends_known.latest.log_end_offset,
        greatest(
            {{ long_difference(
                'ends_known.latest.log_end_offset', 'live_offsets.committed_offset'
            ) }},
            0
        ) as lag,
        {{ instant('ends_known.latest.taken_at_ms') }} as end_taken_at

    from live_offsets

    left join ends_known using (cluster_id, topic_name, partition_index)

)

select * from group_lag
