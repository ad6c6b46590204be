with

clusters as (

    select * from {{ ref('int_groups__clusters_configured') }}

),

state_groups as (

    select * from {{ ref('stg_state__groups') }}

),

groups_due as (

    select * from {{ ref('int_groups__cleanup_groups_due') }}

),

offsets_counted as (

    select * from {{ ref('int_groups__cleanup_offsets_counted') }}

),

groups_in_transaction as (

    select distinct
        cluster_id,
        group_id

    from {{ ref('stg_state__open_transactions') }}

),

groups_reasoned as (

    select
        state_groups.cluster_id,
        state_groups.group_id,
        clusters.run_id,
        clusters.ruleset,
        clusters.settings_hash,
        clusters.decided_at_ms,
        state_groups.stored_description_topology_epoch as observed_epoch,
        if(
            offsets_counted.offsets_kept = offsets_counted.offsets_waiting,
            offsets_counted.last_expires_at_ms,
            null
        ) as all_expire_at_ms,
        case
            when not clusters.has_plugin then 'NO_PLUGIN'
            when state_groups.is_deleted then 'GROUP_DELETED'
            when state_groups.group_type <> 'streams' then 'NOT_STREAMS'
            when
                not state_groups.is_readable
                or offsets_counted.offsets_unreadable > 0
                then 'UNREADABLE'
            when state_groups.group_state <> 'EMPTY' then 'NOT_EMPTY'
            when state_groups.stored_description_topology_epoch = -1
                then 'NOTHING_STORED'
            when
                clusters.offsets_condition = 'all_expired'
                and offsets_counted.offsets_without_condition > 0
                then 'NO_EXPIRATION_CONDITION'
            when
                clusters.offsets_condition = 'all_expired'
                and offsets_counted.offsets_kept > 0
                then 'OFFSETS_NOT_EXPIRED'
            when
                clusters.offsets_condition = 'none_left'
                and offsets_counted.offsets_present > 0
                then 'OFFSETS_PRESENT'
            when groups_in_transaction.group_id is not null
                then 'OPEN_TRANSACTION'
            else 'ELIGIBLE'
        end as reason_code

    from state_groups

    left semi join groups_due using (cluster_id, group_id)

    inner join clusters using (cluster_id)

    left join offsets_counted using (cluster_id, group_id)

    left join groups_in_transaction using (cluster_id, group_id)

),

cleanup_eligibility_reasoned as (

    select
        cluster_id,
        group_id,
        run_id,
        ruleset,
        settings_hash,
        if(reason_code = 'ELIGIBLE', 'eligible', 'not_eligible') as decision,
        reason_code,
        observed_epoch,
        decided_at_ms,
        if(reason_code = 'OFFSETS_NOT_EXPIRED', all_expire_at_ms, null)
            as next_due_at_ms

    from groups_reasoned

)

select * from cleanup_eligibility_reasoned
