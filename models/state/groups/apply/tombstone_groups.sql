{{ config(
    tags='apply_sweep',
    unique_key=['cluster_id', 'group_id'],
    meta={
        'into': 'state.groups',
        'matched_condition': 'not t.is_deleted and (s.offsets_removed > 0 or '
            ~ group_goes() ~ ')',
        'update_set': tombstoned_group_columns(),
        'insert_when': false
    }
) }}

-- depends_on: {{ ref('int_groups__decided') }}
-- depends_on: {{ ref('tombstone_group_offsets') }}

with

clusters as (

    select * from {{ ref('int_groups__clusters_configured') }}

    where is_applied

),

group_sweeps as (

    select * from {{ ref('int_groups__group_sweeps_decided') }}

    where decision = 'tombstone' or offsets_to_expire > 0

),

group_offsets as (

    select * from {{ ref('stg_state__group_offsets') }}

),

{# a commit may have come between the decision and now #}
offsets_now as (

    select
        group_offsets.cluster_id,
        group_offsets.group_id,
        count_if(not group_offsets.is_deleted) as offsets_left,
        count_if(group_offsets.deleted_run_id = clusters.run_id)
            as offsets_removed

    from group_offsets

    inner join clusters using (cluster_id)

    left semi join group_sweeps using (cluster_id, group_id)

    group by
        group_offsets.cluster_id,
        group_offsets.group_id

),

groups_swept as (

    select
        group_sweeps.cluster_id,
        group_sweeps.group_id,
        clusters.run_id,
        clusters.has_plugin,
        group_sweeps.decision = 'tombstone'
        and coalesce(offsets_now.offsets_left, 0) = 0 as is_tombstone,
        coalesce(offsets_now.offsets_removed, 0) as offsets_removed,
        group_sweeps.next_due_at_ms

    from group_sweeps

    inner join clusters using (cluster_id)

    left join offsets_now using (cluster_id, group_id)

)

select * from groups_swept
