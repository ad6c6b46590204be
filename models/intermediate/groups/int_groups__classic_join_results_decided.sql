{{ config(
    tags='decide_requests',
    meta={'counted_as': 'joins_'},
    schema='decisions',
    alias='classic_join_results',
    materialized='merge_into',
    works_on='int_groups__requests_answered',
    works_when="request_kind = 'join'",
    unique_key=['cluster_id', 'request_id']
) }}

-- depends_on: {{ ref('int_groups__folded') }}

with

requests_answered as (

    select * from {{ ref('int_groups__requests_answered') }}

    where request_kind = 'join'

),

classic_join_results as (

    select
        cluster_id,
        request_id,
        run_id,
        ruleset,
        decision,
        reason_code,
        cast(null as string) as previous_decision,
        cast(null as string) as previous_reason_code,
        run_id as changed_in_run_id,
        decided_at_ms,
        is_dry_run,
        group_id,
        member_id,
        received_at_ms,
        error_code,
        call_id,
        backoff

    from requests_answered

)

select * from classic_join_results
