{{ config(
    tags='decide_sweep',
    schema='decisions',
    alias='group_sweeps',
    materialized='merge_into',
    unique_key=['cluster_id', 'group_id'],
    meta={
        'works_on': 'int_groups__sweep_groups_due',
        'delete_when': 's.is_gone',
        'insert_when': 'not s.is_gone'
    }
) }}

{# offsets first: groups are due until this table is written, so after a kill
   the offsets are decided again #}
-- depends_on: {{ ref('int_groups__folded') }}
-- depends_on: {{ ref('int_groups__offset_expirations_decided') }}

with

due as (

    select distinct
        cluster_id,
        group_id

    from {{ ref('int_groups__sweep_groups_due') }}

),

reasoned as (

    select * from {{ ref('int_groups__group_sweeps_reasoned') }}

),

all_decided as (

    select * from {{ ref('stg_decisions__group_sweeps') }}

),

{{ changes_found(
    due='due',
    reasoned='reasoned',
    stored='all_decided',
    key=['cluster_id', 'group_id'],
    own_columns=['offsets_to_expire', 'offsets_left', 'next_due_at_ms'],
    due_by=['cluster_id', 'group_id']
) }}

select * from changes_found
