with

partition_ends as (

    select
        cluster_id,
        topic_name,
        partition_index,
        max(log_end_offset) as log_end_offset,
        max(taken_at_ms) as taken_at_ms,
        max(run_id) as run_id

    from {{ ref('stg_state__partition_states') }}

    where is_leader

    group by
        cluster_id,
        topic_name,
        partition_index

)

select * from partition_ends
