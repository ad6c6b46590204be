{{ config(
    tags='decide_metadata',
    schema='decisions',
    alias='metadata_rounds',
    materialized='merge_into',
    unique_key=['cluster_id', 'producer_id'],
    meta={
        'works_on': 'int_producers__producers_due',
        'delete_when': 's.is_gone',
        'insert_when': 'not s.is_gone',
        'matched_condition': differs_from_stored([
            'cached_topics',
            'target_fetch_size',
            'fetch_mode',
            'urgent_topics',
            'non_urgent_topics',
            'fetched_topics',
            'fetched_non_urgent_topics',
            'evicted_topics'
        ])
    }
) }}

{# by the rounds the next run tells what is due, so they come last #}
-- depends_on: {{ ref('int_producers__folded') }}
-- depends_on: {{ ref('int_producers__metadata_topics_decided') }}

with

due as (

    select * from {{ ref('int_producers__producers_due') }}

),

reasoned as (

    select * from {{ ref('int_producers__metadata_rounds_reasoned') }}

),

all_decided as (

    select * from {{ ref('stg_decisions__metadata_rounds') }}

),

{{ changes_found(
    due='due',
    reasoned='reasoned',
    stored='all_decided',
    key=['cluster_id', 'producer_id'],
    own_columns=[
        'cached_topics',
        'target_fetch_size',
        'fetch_mode',
        'urgent_topics',
        'non_urgent_topics',
        'fetched_topics',
        'fetched_non_urgent_topics',
        'evicted_topics',
        'next_due_at_ms'
    ],
    due_by=['cluster_id', 'producer_id']
) }}

select * from changes_found
