{{ config(
    tags='fold_consumer_offsets',
    unique_key=['cluster_id', 'group_id'],
    meta={
        'into': 'state.groups',
        'matched_condition': '(t.deleted_run_id is null'
            ~ " and (t.group_state <> 'PREPARING_REBALANCE' or s.log_offset > t.log_offset))"
            ~ ' or (not s.is_deleted and s.log_offset > t.log_offset)'
            ~ ' or s.last_commit_log_offset > t.log_offset'
    }
) }}

{# Retention is read from the settings in force. A group that the sweep removed
   is revived by a later record only; a later commit revived it even if its own
   end is known already. PREPARING_REBALANCE is of no record: a classic join
   converted the group, and what was written before it does not undo that. #}
-- depends_on: {{ ref('record_settings') }}
-- depends_on: {{ ref('fold_group_records') }}
-- depends_on: {{ ref('fold_group_offsets') }}

with

groups as (

    select * from {{ ref('int_groups__groups_folded') }}

),

clusters as (

    select * from {{ ref('int_groups__clusters_configured') }}

),

own_epochs as (

    select * from {{ ref('int_groups__own_epochs') }}

),

groups_touched as (

    select * from {{ ref('int_groups__groups_touched') }}

),

live_offsets as (

    select * from {{ ref('stg_state__group_offsets') }}

    where not is_deleted

),

{# whichever clock runs, it elapses first for the earliest of those that have a time of their own,
   and of those that have none #}
offsets_first_due as (

    select
        live_offsets.cluster_id,
        live_offsets.group_id,
        min(live_offsets.commit_at_ms) as commit_at_ms,
        min(live_offsets.expire_at_ms) as expire_at_ms

    from live_offsets

    left semi join groups_touched using (cluster_id, group_id)

    group by
        live_offsets.cluster_id,
        live_offsets.group_id,
        live_offsets.expire_at_ms is null

),

offsets_gathered as (

    select
        cluster_id,
        group_id,
        collect_list(struct(commit_at_ms, expire_at_ms)) as first_due

    from offsets_first_due

    group by
        cluster_id,
        group_id

),

groups_folded as (

    select
        groups.*,
        transform(
            if(groups.is_deleted, null, offsets_gathered.first_due),
            o -> struct(
                {{ expiry_clock('groups', 'o') }} as expiry_clock,
                clusters.offsets_retention_ms as offsets_retention_ms,
                groups.empty_since_at_ms as empty_since_at_ms,
                o.commit_at_ms as commit_at_ms,
                o.expire_at_ms as expire_at_ms
            )
        ) as clocks

    from groups

    left join clusters
        on groups.cluster_id = clusters.cluster_id

    left join offsets_gathered
        on
            groups.cluster_id = offsets_gathered.cluster_id
            and groups.group_id = offsets_gathered.group_id

),

folded as (

    select
        groups_folded.cluster_id,
        groups_folded.group_id,
        groups_folded.offsets_partition_index,
        groups_folded.group_type,
        groups_folded.group_state,
        groups_folded.protocol_type,
        groups_folded.group_epoch,
        groups_folded.topology_epoch,
        coalesce(
            own_epochs.stored_description_topology_epoch,
            groups_folded.stored_description_topology_epoch
        ) as stored_description_topology_epoch,
        coalesce(
            own_epochs.failed_description_topology_epoch,
            groups_folded.failed_description_topology_epoch
        ) as failed_description_topology_epoch,
        groups_folded.member_count,
        groups_folded.subscribed_topics,
        groups_folded.is_deleted,
        groups_folded.is_readable,
        groups_folded.deleted_by,
        groups_folded.empty_since_at_ms,
        groups_folded.deleted_at_ms,
        cast(null as string) as deleted_run_id,
        array_min(
            transform(groups_folded.clocks, c -> {{ expires_at_ms('c') }})
        ) as next_due_at_ms,
        groups_folded.log_offset,
        groups_folded.tombstone_log_offset,
        groups_folded.last_commit_log_offset,
        groups_folded.changed_in_run_id,
        own_epochs.epochs_written_in_run_id,
        own_epochs.description_settled_in_run_id,
        cast(null as int) as stored_epoch_before_barrier,
        groups_folded.removed_log_offset

    from groups_folded

    left join own_epochs
        on
            groups_folded.cluster_id = own_epochs.cluster_id
            and groups_folded.group_id = own_epochs.group_id
            and groups_folded.group_type = 'streams'
            and not groups_folded.is_deleted
            and groups_folded.tombstone_log_offset
            <= own_epochs.log_offset

)

select * from folded
