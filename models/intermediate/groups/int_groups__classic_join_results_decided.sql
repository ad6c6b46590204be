{{ config(
    tags='decide_requests',
    schema='decisions',
    alias='classic_join_results',
    materialized='merge_into',
    unique_key=['cluster_id', 'request_id'],
    meta={
        'counted_as': 'joins_',
        'works_on': 'int_groups__requests_answered',
        'works_when': "request_kind = 'join'"
    }
) }}

-- depends_on: {{ ref('int_groups__folded') }}

with

requests_answered as (

    select * from {{ ref('int_groups__requests_answered') }}

    where request_kind = 'join'

),

classic_join_results as (

    select
        {{ request_decision_columns() }},
        member_id,
        error_code,
        call_id,
        backoff

    from requests_answered

)

select * from classic_join_results
