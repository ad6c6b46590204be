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

groups_folded as (

    select * from {{ ref('int_groups__groups_folded') }}

),

clusters as (

    select * from {{ ref('int_groups__clusters_configured') }}

),

own_epochs as (

    select * from {{ ref('int_groups__own_epochs') }}

),

live_offsets as (

    select * from {{ ref('stg_state__group_offsets') }}

    where not is_deleted

),

clocks_chosen as (

    select
        groups_folded.cluster_id,
        groups_folded.group_id,
        {{ expiry_clock('groups_folded', 'live_offsets') }} as expiry_clock,
        clusters.offsets_retention_ms,
        live_offsets.commit_at_ms,
        live_offsets.expire_at_ms,
        groups_folded.empty_since_at_ms

    from groups_folded

    inner join clusters using (cluster_id)

    inner join live_offsets using (cluster_id, group_id)

    where not groups_folded.is_deleted

),

next_due as (

    select
        cluster_id,
        group_id,
        min({{ expires_at_ms('clocks_chosen') }}) as next_due_at_ms

    from clocks_chosen

    group by
        cluster_id,
        group_id

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
        next_due.next_due_at_ms,
        groups_folded.log_offset,
        groups_folded.tombstone_log_offset,
        groups_folded.last_commit_log_offset,
        groups_folded.changed_in_run_id,
        own_epochs.epochs_written_in_run_id,
        own_epochs.description_settled_in_run_id,
        cast(null as int) as stored_epoch_before_barrier,
        groups_folded.removed_log_offset

    from groups_folded

    left join next_due
        on
            groups_folded.cluster_id = next_due.cluster_id
            and groups_folded.group_id = next_due.group_id

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
