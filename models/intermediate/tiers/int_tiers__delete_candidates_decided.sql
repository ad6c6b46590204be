{{ config(
    tags='decide_tiers',
    schema='decisions',
    alias='delete_candidates',
    materialized='merge_into',
    unique_key=['cluster_id', 'segment_id'],
    meta={
        'works_on': 'int_tiers__partitions_due',
        'delete_when': 's.is_gone',
        'insert_when': 'not s.is_gone',
        'matched_condition': differs_from_stored([
            'topic_id',
            'topic_name',
            'partition_index',
            'start_offset',
            'end_offset',
            'size_bytes',
            'max_timestamp_ms',
            'segment_state',
            'walk_position',
            'lag_before',
            'lag_after',
            'is_over_deleted'
        ])
    }
) }}

-- depends_on: {{ ref('int_tiers__folded') }}

with

due as (

    select distinct
        cluster_id,
        topic_id,
        partition_index

    from {{ ref('int_tiers__partitions_due') }}

),

reasoned as (

    select * from {{ ref('int_tiers__delete_candidates_reasoned') }}

),

all_decided as (

    select * from {{ ref('stg_decisions__delete_candidates') }}

),

{{ changes_found(
    due='due',
    reasoned='reasoned',
    stored='all_decided',
    key=[
        'cluster_id',
        'segment_id'
    ],
    own_columns=[
        'topic_id',
        'topic_name',
        'partition_index',
        'start_offset',
        'end_offset',
        'size_bytes',
        'max_timestamp_ms',
        'segment_state',
        'walk_position',
        'lag_before',
        'lag_after',
        'is_over_deleted',
        'next_due_at_ms'
    ],
    due_by=['cluster_id', 'topic_id', 'partition_index']
) }}

select * from changes_found
