{{ config(
    tags=['apply_sweep', 'apply_requests'],
    meta={'into': 'history.tombstones', 'write': 'append'}
) }}

-- depends_on: {{ ref('int_groups__decided') }}
-- depends_on: {{ ref('tombstone_groups') }}
-- depends_on: {{ ref('tombstone_offsets_of_deleted_groups') }}

with

{# also a cluster of which moldau is no longer in charge: what was removed
   there before the run was killed is told #}
clusters as (

    select * from {{ ref('int_groups__clusters_configured') }}

),

parameters as (

    select * from {{ ref('stg_run__parameters') }}

),

recorded as (

    select * from {{ ref('stg_history__tombstones') }}

    where run_id = (select parameters.run_id from parameters)

),

state_groups as (

    select * from {{ ref('stg_state__groups') }}

    where changed_in_run_id = (select parameters.run_id from parameters)

),

group_offsets as (

    select * from {{ ref('stg_state__group_offsets') }}

    where changed_in_run_id = (select parameters.run_id from parameters)

),

join_results as (

    select * from {{ ref('int_groups__classic_join_results_decided') }}

    where
        run_id = (select parameters.run_id from parameters)
        and decision = 'converted'

),

removed as (

    select
        cluster_id,
        group_id,
        cast(null as string) as topic_name,
        cast(null as int) as partition_index,
        group_type,
        cast(null as bigint) as committed_offset,
        deleted_by,
        deleted_at_ms

    from state_groups

    where deleted_run_id = changed_in_run_id

    union all

    select
        group_offsets.cluster_id,
        group_offsets.group_id,
        group_offsets.topic_name,
        group_offsets.partition_index,
        state_groups.group_type,
        group_offsets.committed_offset,
        group_offsets.deleted_by,
        group_offsets.deleted_at_ms

    from group_offsets

    inner join state_groups using (cluster_id, group_id)

    where group_offsets.deleted_run_id = group_offsets.changed_in_run_id

    union all

    {# the streams group went, and a classic one of its name is there #}
    select
        join_results.cluster_id,
        join_results.group_id,
        cast(null as string) as topic_name,
        cast(null as int) as partition_index,
        'streams' as group_type,
        cast(null as bigint) as committed_offset,
        'classic_join' as deleted_by,
        join_results.decided_at_ms as deleted_at_ms

    from join_results

    left semi join state_groups
        on
            join_results.cluster_id = state_groups.cluster_id
            and join_results.group_id = state_groups.group_id
            and state_groups.group_type = 'classic'

),

tombstones as (

    select
        removed.cluster_id,
        removed.group_id,
        removed.topic_name,
        removed.partition_index,
        clusters.run_id,
        clusters.ruleset,
        removed.group_type,
        clusters.has_plugin,
        removed.deleted_by as removed_by,
        removed.committed_offset,
        clusters.decided_at_ms,
        removed.deleted_at_ms as removed_at_ms

    from removed

    inner join clusters
        on removed.cluster_id = clusters.cluster_id

    left anti join recorded
        on
            removed.cluster_id = recorded.cluster_id
            and removed.group_id = recorded.group_id
            and removed.topic_name <=> recorded.topic_name
            and removed.partition_index <=> recorded.partition_index

)

select * from tombstones
