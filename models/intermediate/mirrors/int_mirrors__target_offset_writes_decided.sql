{{ config(
    tags='decide_translate',
    schema='decisions',
    alias='target_offset_writes',
    materialized='merge_into',
    unique_key=['flow', 'group_id', 'target_topic_name', 'partition_index'],
    meta={
        'works_on': 'int_mirrors__target_groups_due',
        'delete_when': 's.is_gone',
        'insert_when': 'not s.is_gone',
        'matched_condition': differs_from_stored(['from_offset', 'to_offset'])
    }
) }}

-- depends_on: {{ ref('int_mirrors__folded') }}

with

due as (

    select * from {{ ref('int_mirrors__target_groups_due') }}

),

reasoned as (

    select * from {{ ref('int_mirrors__target_offset_writes_reasoned') }}

),

all_decided as (

    select * from {{ ref('stg_decisions__target_offset_writes') }}

),

{{ changes_found(
    due='due',
    reasoned='reasoned',
    stored='all_decided',
    key=[
        'flow',
        'group_id',
        'target_topic_name',
        'partition_index'
    ],
    own_columns=[
        'cluster_id',
        'from_offset',
        'to_offset',
        'next_due_at_ms'
    ],
    due_by=['flow', 'group_id']
) }}

select * from changes_found
