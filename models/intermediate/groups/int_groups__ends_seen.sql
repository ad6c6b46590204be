with

partition_states as (

    select * from {{ ref('stg_raw__partition_states') }}

),

{# a file that was loaded again tells nothing new, and is asked of once #}
snapshots as (

    select
        cluster_id,
        run_id,
        max(taken_at_ms) as taken_at_ms

    from partition_states

    group by
        cluster_id,
        run_id

),

snapshots_placed as (

    select
        *,
        row_number() over (
            partition by cluster_id
            order by taken_at_ms desc, run_id desc
        ) as place,
        row_number() over (
            partition by cluster_id, floor(taken_at_ms / 3600000)
            order by taken_at_ms desc, run_id desc
        ) as place_in_hour,
        max(taken_at_ms) over (partition by cluster_id) as last_taken_at_ms

    from snapshots

),

{# as many as lag exporters keep, and of what is older one an hour: what is read stays small
   however long the history is #}
snapshots_kept as (

    select
        cluster_id,
        run_id

    from snapshots_placed

    where
        place <= 60
        or (
            place_in_hour = 1
            and taken_at_ms > last_taken_at_ms - 604800000
        )

),

leaders_placed as (

    select
        partition_states.*,
        {{ leader_place('topic_name', within='cluster_id, run_id') }} as leader_place

    from partition_states

    left semi join snapshots_kept
        on
            partition_states.cluster_id = snapshots_kept.cluster_id
            and partition_states.run_id = snapshots_kept.run_id

    where partition_states.is_leader

),

ends_seen as (

    select
        cluster_id,
        run_id,
        topic_name,
        partition_index,
        topic_id,
        if(log_start_offset >= 0, log_start_offset, null) as log_start_offset,
        high_watermark,
        taken_at_ms

    from leaders_placed

    where
        leader_place = 1
        and high_watermark >= 0

)

select * from ends_seen
