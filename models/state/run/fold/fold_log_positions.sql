{{ config(
    unique_key=['cluster_id', 'topic_name', 'partition_index'],
    meta={'into': 'state.log_positions', 'matched_condition': 's.next_offset >= t.next_offset'}
) }}

select
    cluster_id,
    topic_name,
    partition_index,
    topic_id,
    next_offset,
    log_start_offset,
    last_stable_offset,
    high_watermark,
    polled_at_ms,
    run_id

from {{ ref('stg_run__log_positions') }}
