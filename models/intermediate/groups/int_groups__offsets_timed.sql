with

clusters as (

    select * from {{ ref('int_groups__clusters_configured') }}

),

live_groups as (

    select * from {{ ref('stg_state__groups') }}

    where not is_deleted

),

live_offsets as (

    select * from {{ ref('stg_state__group_offsets') }}

    where not is_deleted

),

pending_commits as (

    select distinct
        cluster_id,
        group_id,
        topic_name,
        partition_index

    from {{ ref('stg_state__open_transactions') }}

),

clocks_chosen as (

    select
        live_groups.cluster_id,
        live_groups.group_id,
        live_offsets.topic_name,
        live_offsets.partition_index,
        clusters.run_id,
        clusters.ruleset,
        clusters.settings_hash,
        {{ expiry_clock('live_groups', 'live_offsets') }} as expiry_clock,
        {{ is_subscribed('live_groups', 'live_offsets.topic_name') }}
            as is_subscribed,
        pending_commits.group_id is not null as has_pending_transaction,
        live_groups.is_readable and live_offsets.is_readable as is_readable,
        clusters.offsets_retention_ms,
        clusters.decided_at_ms,
        live_offsets.commit_at_ms,
        live_offsets.expire_at_ms,
        live_offsets.commit_log_offset as observed_log_offset,
        live_groups.empty_since_at_ms

    from live_offsets

    inner join live_groups using (cluster_id, group_id)

    inner join clusters using (cluster_id)

    left join pending_commits using (cluster_id, group_id, topic_name, partition_index)

),

offsets_timed as (

    select
        cluster_id,
        group_id,
        topic_name,
        partition_index,
        run_id,
        ruleset,
        settings_hash,
        expiry_clock,
        is_subscribed,
        has_pending_transaction,
        is_readable,
        {{ expires_at_ms('clocks_chosen', 'clocks_chosen.decided_at_ms') }} as expires_at_ms,
        observed_log_offset,
        decided_at_ms

    from clocks_chosen

)

select * from offsets_timed
