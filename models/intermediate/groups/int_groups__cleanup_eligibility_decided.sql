{{ config(
    tags='decide_cycle',
    schema='decisions',
    alias='cleanup_eligibility',
    materialized='merge_into',
    unique_key=['cluster_id', 'group_id'],
    meta={
        'works_on': 'int_groups__cleanup_groups_due',
        'delete_when': 's.is_gone',
        'insert_when': 'not s.is_gone'
    }
) }}

-- depends_on: {{ ref('int_groups__folded') }}

with

due as (

    select distinct
        cluster_id,
        group_id

    from {{ ref('int_groups__cleanup_groups_due') }}

),

reasoned as (

    select * from {{ ref('int_groups__cleanup_eligibility_reasoned') }}

),

all_decided as (

    select * from {{ ref('stg_decisions__cleanup_eligibility') }}

),

{{ changes_found(
    due='due',
    reasoned='reasoned',
    stored='all_decided',
    key=['cluster_id', 'group_id'],
    own_columns=['observed_epoch', 'next_due_at_ms'],
    due_by=['cluster_id', 'group_id']
) }}

select * from changes_found
