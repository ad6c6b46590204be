with

offsets as (

    select * from {{ ref('expiry_calendar') }}

),

groups as (

    select * from {{ ref('groups') }}

    where not is_deleted

),

parameters as (

    select
        *,
        timestamp_millis(at_ms - 86400000) as a_day_ago,
        timestamp_millis(at_ms + 86400000) as in_a_day

    from {{ ref('stg_run__parameters') }}

),

{# an offset that is kept for another reason than time does not expire when its time comes #}
offsets_in_time as (

    select
        *,
        if(
            coalesce(blocked_by, 'time') = 'time',
            expires_at,
            null
        ) as goes_at

    from offsets

),

offsets_counted as (

    select
        timed.cluster_id,
        timed.group_id,
        count(*) as offset_count,
        count_if(timed.goes_at <= parameters.in_a_day) as expiring_offsets,
        min(timed.goes_at) as first_expires_at,
        max(timed.decided_at) as decided_at

    from offsets_in_time as timed

    cross join parameters

    group by
        timed.cluster_id,
        timed.group_id

),

group_expirations as (

    select
        counted.cluster_id,
        counted.group_id,
        groups.group_state,
        {# who assigns partitions to itself is no member of its group #}
        groups.member_count > 0
        or coalesce(groups.last_commit_at > parameters.a_day_ago, false)
            as is_live,
        counted.offset_count,
        counted.expiring_offsets,
        counted.first_expires_at,
        groups.last_commit_at,
        counted.decided_at

    from offsets_counted as counted

    inner join groups using (cluster_id, group_id)

    cross join parameters

)

select * from group_expirations
