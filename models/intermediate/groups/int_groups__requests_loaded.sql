with

heartbeats as (

    select * from {{ ref('stg_raw__heartbeats') }}

),

topology_pushes as (

    select
        *,
        topology_epoch as pushed_epoch,
        topology_description is not null as has_description,
        topology_description.error_message as description_error,
        topology_description.findings

    from {{ ref('stg_raw__topology_pushes') }}

),

group_deletions as (

    select
        *,
        explode(group_ids) as group_id

    from {{ ref('stg_raw__group_deletions') }}

),

{# each id once; who asks for none is answered under the empty name #}
groups_to_delete as (

    select
        cluster_id,
        coalesce(group_id, '') as group_id,
        request_id,
        bool_and(group_id is null) as is_of_no_group,
        first(request_version) as request_version,
        first(read_error) as read_error,
        first(received_at_ms) as received_at_ms,
        first(run_id) as run_id

    from group_deletions

    group by
        cluster_id,
        coalesce(group_id, ''),
        request_id

),

classic_joins as (

    select * from {{ ref('stg_raw__classic_joins') }}

),

requests_loaded as (

    select
        cluster_id,
        group_id,
        received_at_ms,
        request_id,
        'heartbeat' as request_kind,
        group_id = '' as is_of_no_group,
        jitter,
        member_id,
        request_version,
        member_epoch,
        response_error,
        status_codes,
        cast(null as int) as pushed_epoch,
        cast(null as boolean) as has_description,
        cast(null as string) as description_error,
        cast(null as array<string>) as findings,
        cast(null as string) as coordinator_error,
        cast(null as string) as authorization_error,
        cast(null as string) as write_error,
        cast(null as string) as read_error,
        run_id as loaded_in_run_id

    from heartbeats

    union all

    select
        cluster_id,
        group_id,
        received_at_ms,
        request_id,
        'push' as request_kind,
        group_id = '' as is_of_no_group,
        jitter,
        member_id,
        null as request_version,
        null as member_epoch,
        null as response_error,
        null as status_codes,
        pushed_epoch,
        has_description,
        description_error,
        findings,
        coordinator_error,
        authorization_error,
        write_error,
        null as read_error,
        run_id as loaded_in_run_id

    from topology_pushes

    union all

    select
        cluster_id,
        group_id,
        received_at_ms,
        request_id,
        'deletion' as request_kind,
        is_of_no_group,
        null as jitter,
        null as member_id,
        request_version,
        null as member_epoch,
        null as response_error,
        null as status_codes,
        null as pushed_epoch,
        null as has_description,
        null as description_error,
        null as findings,
        null as coordinator_error,
        null as authorization_error,
        null as write_error,
        read_error,
        run_id as loaded_in_run_id

    from groups_to_delete

    union all

    select
        cluster_id,
        group_id,
        received_at_ms,
        request_id,
        'join' as request_kind,
        group_id = '' as is_of_no_group,
        jitter,
        member_id,
        null as request_version,
        null as member_epoch,
        null as response_error,
        null as status_codes,
        null as pushed_epoch,
        null as has_description,
        null as description_error,
        null as findings,
        null as coordinator_error,
        null as authorization_error,
        null as write_error,
        null as read_error,
        run_id as loaded_in_run_id

    from classic_joins

)

select * from requests_loaded
