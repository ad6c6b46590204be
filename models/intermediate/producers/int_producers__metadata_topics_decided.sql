{{ config(
    tags='decide_metadata',
    schema='decisions',
    alias='metadata_topics',
    materialized='merge_into',
    unique_key=['cluster_id', 'producer_id', 'topic_name'],
    meta={
        'works_on': 'int_producers__producers_due',
        'delete_when': 's.is_gone',
        'insert_when': 'not s.is_gone',
        'matched_condition': differs_from_stored([
            'topic_set',
            'fetch_rank',
            'observed_refresh_at_ms',
            'observed_access_at_ms'
        ])
    }
) }}

-- depends_on: {{ ref('int_producers__folded') }}

with

due as (

    select * from {{ ref('int_producers__producers_due') }}

),

reasoned as (

    select * from {{ ref('int_producers__metadata_topics_reasoned') }}

),

all_decided as (

    select * from {{ ref('stg_decisions__metadata_topics') }}

),

{{ changes_found(
    due='due',
    reasoned='reasoned',
    stored='all_decided',
    key=['cluster_id', 'producer_id', 'topic_name'],
    own_columns=[
        'topic_set',
        'fetch_rank',
        'observed_refresh_at_ms',
        'observed_access_at_ms',
        'next_due_at_ms'
    ],
    due_by=['cluster_id', 'producer_id']
) }}

select * from changes_found
