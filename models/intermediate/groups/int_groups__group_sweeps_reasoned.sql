with

clusters as (

    select * from {{ ref('int_groups__clusters_configured') }}

),

live_groups as (

    select * from {{ ref('stg_state__groups') }}

    where not is_deleted

),

groups_due as (

    select * from {{ ref('int_groups__sweep_groups_due') }}

),

offsets_counted as (

    select * from {{ ref('int_groups__sweep_offsets_counted') }}

),

groups_in_transaction as (

    select distinct
        cluster_id,
        group_id

    from {{ ref('stg_state__open_transactions') }}

),

groups_reasoned as (

    select
        live_groups.cluster_id,
        live_groups.group_id,
        clusters.run_id,
        clusters.ruleset,
        clusters.settings_hash,
        clusters.decided_at_ms,
        coalesce(offsets_counted.offsets_to_expire, 0) as offsets_to_expire,
        coalesce(offsets_counted.offsets_left, 0) as offsets_left,
        offsets_counted.next_due_at_ms,
        case
            when live_groups.group_type = 'share' then 'SHARE_GROUP'
            when
                not live_groups.is_readable
                or offsets_counted.offsets_unreadable > 0
                then 'UNREADABLE'
            when offsets_counted.offsets_without_condition > 0
                then 'NO_EXPIRATION_CONDITION'
            when offsets_counted.offsets_left > 0 then 'OFFSETS_LEFT'
            when groups_in_transaction.group_id is not null
                then 'OPEN_TRANSACTION'
            when live_groups.group_state <> 'EMPTY' then 'NOT_EMPTY'
            when
                clusters.has_plugin
                and live_groups.group_type = 'streams'
                and live_groups.stored_description_topology_epoch <> -1
                then 'DESCRIPTION_STILL_STORED'
            else 'ALL_EXPIRED'
        end as reason_code

    from live_groups

    left semi join groups_due using (cluster_id, group_id)

    inner join clusters using (cluster_id)

    left join offsets_counted using (cluster_id, group_id)

    left join groups_in_transaction using (cluster_id, group_id)

),

group_sweeps_reasoned as (

    select
        cluster_id,
        group_id,
        run_id,
        ruleset,
        settings_hash,
        case reason_code
            when 'ALL_EXPIRED' then 'tombstone'
            when 'DESCRIPTION_STILL_STORED' then 'defer'
            else 'keep'
        end as decision,
        reason_code,
        offsets_to_expire,
        offsets_left,
        decided_at_ms,
        next_due_at_ms

    from groups_reasoned

)

select * from group_sweeps_reasoned
