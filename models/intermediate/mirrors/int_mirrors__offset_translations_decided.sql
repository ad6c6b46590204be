{{ config(
    tags='decide_translate',
    schema='decisions',
    alias='offset_translations',
    materialized='merge_into',
    unique_key=['flow', 'group_id', 'topic_name', 'partition_index'],
    meta={
        'works_on': 'int_mirrors__commits_due',
        'delete_when': 's.is_gone',
        'insert_when': 'not s.is_gone',
        'matched_condition': differs_from_stored([
            'cluster_id',
            'target_topic_name',
            'upstream_offset',
            'translated_offset',
            'lower_bound',
            'upper_bound',
            'waiting_offset',
            'syncs_incarnation',
            'sync_log_offset',
            'incarnation',
            'parity_incarnation',
            'is_anchored',
            'metadata',
            'commit_at_ms',
            'observed_upstream_offset',
            'observed_downstream_offset',
            'observed_emitted_by'
        ])
    }
) }}

-- depends_on: {{ ref('int_mirrors__folded') }}

with

due as (

    select * from {{ ref('int_mirrors__commits_due') }}

),

reasoned as (

    select * from {{ ref('int_mirrors__offset_translations_reasoned') }}

),

all_decided as (

    select * from {{ ref('stg_decisions__offset_translations') }}

),

{{ changes_found(
    due='due',
    reasoned='reasoned',
    stored='all_decided',
    key=['flow', 'group_id', 'topic_name', 'partition_index'],
    own_columns=[
        'cluster_id',
        'target_topic_name',
        'upstream_offset',
        'translated_offset',
        'lower_bound',
        'upper_bound',
        'reread_max',
        'waiting_offset',
        'syncs_incarnation',
        'sync_log_offset',
        'incarnation',
        'parity_incarnation',
        'is_anchored',
        'metadata',
        'commit_at_ms',
        'observed_upstream_offset',
        'observed_downstream_offset',
        'observed_emitted_by',
        'next_due_at_ms'
    ],
    due_by=['flow', 'group_id', 'topic_name', 'partition_index']
) }}

select * from changes_found
