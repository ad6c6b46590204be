{{ config(
    tags='decide_requests',
    schema='decisions',
    alias='group_deletion_results',
    materialized='merge_into',
    unique_key=['cluster_id', 'request_id', 'group_id'],
    meta={
        'counted_as': 'deletions_',
        'works_on': 'int_groups__requests_answered',
        'works_when': "request_kind = 'deletion'"
    }
) }}

-- depends_on: {{ ref('int_groups__folded') }}

with

requests_answered as (

    select * from {{ ref('int_groups__requests_answered') }}

    where request_kind = 'deletion'

),

group_deletion_results as (

    select
        {{ request_decision_columns() }},
        error_code,
        message as error_message,
        call_id,
        backoff

    from requests_answered

)

select * from group_deletion_results
