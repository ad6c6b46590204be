{{ config(materialized='run_list') }}

with

parameters as (

    select * from {{ ref('stg_run__parameters') }}

),

requests_handled as (

    select * from {{ ref('int_groups__requests_handled') }}

),

reasons as (

    select * from {{ ref('reason_codes') }}

    where domain = 'groups'

),

requests_answered as (

    select
        requests_handled.*,
        parameters.is_dry_run or not parameters.is_open as is_dry_run,
        reasons.decision

    from requests_handled

    cross join parameters

    left join reasons
        on
            requests_handled.reason_code = reasons.reason_code
            and reasons.decision_table = case requests_handled.request_kind
                when 'heartbeat' then 'heartbeat_gates'
                when 'push' then 'topology_push_results'
                when 'deletion' then 'group_deletion_results'
                else 'classic_join_results'
            end

)

select * from requests_answered  -- noqa: AM04
