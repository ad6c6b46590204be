{{ config(
    tags='decide_requests',
    meta={'counted_as': 'heartbeats_'},
    schema='decisions',
    alias='heartbeat_gates',
    materialized='merge_into',
    works_on='int_groups__requests_answered',
    works_when="request_kind = 'heartbeat'",
    unique_key=['cluster_id', 'request_id']
) }}

-- depends_on: {{ ref('int_groups__folded') }}

with

requests_answered as (

    select * from {{ ref('int_groups__requests_answered') }}

    where request_kind = 'heartbeat'

),

heartbeat_gates as (

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
