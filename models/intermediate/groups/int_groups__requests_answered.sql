{{ config(materialized='run_list') }}

with

parameters as (

    select * from {{ ref('stg_run__parameters') }}

),

requests_worded as (

    select * from {{ ref('int_groups__requests_worded') }}

),

{# no call is made any more: other writers were faster each time #}
requests_judged as (

    select
        * except (reason_code),
        if(
            reason_code in ('CALL_WANTED', 'WAITING'), 'NOT_CALLED', reason_code
        ) as reason_code

    from requests_worded

),

reasons as (

    select * from {{ ref('reason_codes') }}

    where domain = 'groups'

),

requests_answered as (

    select
        requests_judged.*,
        parameters.is_dry_run or not parameters.is_open as is_dry_run,
        reasons.decision

    from requests_judged

    cross join parameters

    left join reasons
        on
            requests_judged.reason_code = reasons.reason_code
            and reasons.decision_table = case requests_judged.request_kind
                when 'heartbeat' then 'heartbeat_gates'
                when 'push' then 'topology_push_results'
                when 'deletion' then 'group_deletion_results'
                else 'classic_join_results'
            end

)

select * from requests_answered  -- noqa: AM04
