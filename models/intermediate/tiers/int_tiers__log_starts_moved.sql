with

log_starts_moved as (

    select
        cluster_id,
        topic_id,
        partition_index,
        max(end_offset) + 1 as log_start_offset

    from {{ ref('int_tiers__delete_candidates_decided') }}

    where reason_code in ('RETENTION_TIME', 'RETENTION_SIZE')

    group by
        cluster_id,
        topic_id,
        partition_index

)

select * from log_starts_moved
