{{ config(
    tags='decide_requests',
    schema='decisions',
    alias='topology_push_results',
    materialized='merge_into',
    unique_key=['cluster_id', 'request_id'],
    meta={
        'counted_as': 'pushes_',
        'works_on': 'int_groups__requests_answered',
        'works_when': "request_kind = 'push'"
    }
) }}

-- depends_on: {{ ref('int_groups__folded') }}

with

requests_answered as (

    select * from {{ ref('int_groups__requests_answered') }}

    where request_kind = 'push'

),

topology_push_results as (

    select
        {{ request_decision_columns() }},
        member_id,
        pushed_epoch as topology_epoch,
        error_code,
        message as error_message,
        decision as outcome,
        backoff_action,
        stored_epoch_before,
        stored_epoch_after,
        failed_epoch_after,
        findings,
        call_id,
        backoff

    from requests_answered

)

select * from topology_push_results
