{{ config(
    tags='fold_log_positions',
    into='state.log_positions',
    unique_key=['cluster_id', 'topic_name', 'partition_index'],
    matched_condition='s.next_offset >= t.next_offset'
) }}

with

read as (

    select * from {{ ref('stg_run__log_positions') }}

)

select * from read
