{{ config(
    tags='decide_tiers',
    schema='decisions',
    alias='upload_candidates',
    materialized='merge_into',
    unique_key=['cluster_id', 'topic_id', 'partition_index', 'broker_id', 'base_offset'],
    meta={
        'works_on': 'int_tiers__partitions_due',
        'delete_when': 's.is_gone',
        'insert_when': 'not s.is_gone',
        'matched_condition': differs_from_stored([
            'topic_name',
            'next_base_offset',
            'size_bytes',
            'max_timestamp_ms',
            'lag_before',
            'lag_after'
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

    select * from {{ ref('int_tiers__upload_candidates_reasoned') }}

),

all_decided as (

    select * from {{ ref('stg_decisions__upload_candidates') }}

),

{{ changes_found(
    due='due',
    reasoned='reasoned',
    stored='all_decided',
    key=[
        'cluster_id',
        'topic_id',
        'partition_index',
        'broker_id',
        'base_offset'
    ],
    own_columns=[
        'topic_name',
        'next_base_offset',
        'size_bytes',
        'max_timestamp_ms',
        'lag_before',
        'lag_after',
        'next_due_at_ms'
    ],
    due_by=['cluster_id', 'topic_id', 'partition_index']
) }}

select * from changes_found
