with

heartbeat_gates as (

    select * from {{ ref('int_groups__heartbeat_gates_decided') }}

),

topology_push_results as (

    select * from {{ ref('int_groups__topology_push_results_decided') }}

),

group_deletion_results as (

    select * from {{ ref('int_groups__group_deletion_results_decided') }}

),

classic_join_results as (

    select * from {{ ref('int_groups__classic_join_results_decided') }}

),

request_decisions_gathered as (

    select
        'groups' as domain,
        'heartbeat_gates' as decision_table,
        concat('heartbeat ', request_id) as subject,
        'heartbeat' as request_kind,
        {{ request_columns() }},
        {{ decision_columns() }}

    from heartbeat_gates

    union all

    select
        'groups' as domain,
        'topology_push_results' as decision_table,
        concat('push ', request_id) as subject,
        'push' as request_kind,
        {{ request_columns() }},
        {{ decision_columns() }}

    from topology_push_results

    union all

    select
        'groups' as domain,
        'group_deletion_results' as decision_table,
        concat('deletion ', request_id, ' ', group_id) as subject,
        'deletion' as request_kind,
        {{ request_columns() }},
        {{ decision_columns() }}

    from group_deletion_results

    union all

    select
        'groups' as domain,
        'classic_join_results' as decision_table,
        concat('join ', request_id) as subject,
        'join' as request_kind,
        {{ request_columns() }},
        {{ decision_columns() }}

    from classic_join_results

)

select * from request_decisions_gathered
