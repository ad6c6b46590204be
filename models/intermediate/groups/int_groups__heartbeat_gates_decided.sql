{{ config(
    tags='decide_requests',
    schema='decisions',
    alias='heartbeat_gates',
    materialized='merge_into',
    unique_key=['cluster_id', 'request_id'],
    meta={
        'counted_as': 'heartbeats_',
        'works_on': 'int_groups__requests_answered',
        'works_when': "request_kind = 'heartbeat'"
    }
) }}

-- depends_on: {{ ref('int_groups__folded') }}

with

requests_answered as (

    select * from {{ ref('int_groups__requests_answered') }}

    where request_kind = 'heartbeat'

),

heartbeat_gates as (

    select
        {{ request_decision_columns() }},
        member_id,
        decision = 'required' as topology_description_required,
        topology_epoch as current_topology_epoch,
        stored_epoch_before as stored_description_topology_epoch,
        failed_epoch_before as failed_description_topology_epoch,
        if(
            backoff.topology_epoch = topology_epoch,
            backoff.next_attempt_at_ms,
            null
        ) as next_attempt_at_ms,
        backoff

    from requests_answered

)

select * from heartbeat_gates
