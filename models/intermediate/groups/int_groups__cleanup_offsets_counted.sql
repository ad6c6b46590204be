with

candidates as (

    select
        cluster_id,
        group_id

    from {{ ref('stg_state__groups') }}

    where
        group_type = 'streams'
        and group_state = 'EMPTY'
        and stored_description_topology_epoch <> -1

),

groups_due as (

    select * from {{ ref('int_groups__cleanup_groups_due') }}

),

offset_expirations as (

    select * from {{ ref('int_groups__offset_expirations_reasoned') }}

),

offsets_counted as (

    select
        offset_expirations.cluster_id,
        offset_expirations.group_id,
        count(*) as offsets_present,
        count_if(offset_expirations.decision = 'keep') as offsets_kept,
        count_if(offset_expirations.reason_code = 'NO_EXPIRATION_CONDITION')
            as offsets_without_condition,
        count_if(offset_expirations.reason_code = 'UNREADABLE')
            as offsets_unreadable,
        count_if({{ is_waiting_for_time('offset_expirations') }})
            as offsets_waiting,
        max(offset_expirations.expires_at_ms) as last_expires_at_ms

    from candidates

    left semi join groups_due using (cluster_id, group_id)

    inner join offset_expirations using (cluster_id, group_id)

    group by
        offset_expirations.cluster_id,
        offset_expirations.group_id

)

select * from offsets_counted
