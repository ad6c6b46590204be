with

checkpoints as (

    select * from {{ ref('int_mirrors__checkpoints_due') }}

),

syncs as (

    select * from {{ ref('stg_state__offset_syncs') }}

),

{# moldau knows the sync that it used; of MirrorMaker's it is the one at which
   the group stands, or one before it. Without any moldau has clamped the group
   to the first sync, which stands behind it #}
looked_for as (

    select
        *,
        downstream_offset as wanted_downstream_offset,
        if(emitted_by = 'moldau', 'behind', 'at') as wanted_place

    from checkpoints

    where known_sync_log_offset is null

    union all

    select
        *,
        downstream_offset - 1 as wanted_downstream_offset,
        'before' as wanted_place

    from checkpoints

    where
        known_sync_log_offset is null
        and emitted_by <> 'moldau'

),

matched as (

    select
        looked_for.flow,
        looked_for.group_id,
        looked_for.target_topic_name,
        looked_for.partition_index,
        max(
            struct(
                syncs.recorded_at_ms <= looked_for.emitted_at_ms as is_before,
                syncs.syncs_incarnation,
                syncs.sync_log_offset,
                syncs.incarnation,
                syncs.parity_incarnation
            )
        ) as offset_sync

    from looked_for

    inner join syncs
        on
            looked_for.flow = syncs.flow
            and looked_for.topic_name = syncs.topic_name
            and looked_for.partition_index = syncs.partition_index
            and looked_for.wanted_downstream_offset = syncs.downstream_offset
            and case looked_for.wanted_place
                when 'at' then looked_for.upstream_offset = syncs.upstream_offset
                when 'before' then looked_for.upstream_offset > syncs.upstream_offset
                else looked_for.upstream_offset < syncs.upstream_offset
            end

    group by
        looked_for.flow,
        looked_for.group_id,
        looked_for.target_topic_name,
        looked_for.partition_index

    union all

    select
        checkpoints.flow,
        checkpoints.group_id,
        checkpoints.target_topic_name,
        checkpoints.partition_index,
        struct(
            true as is_before,
            syncs.syncs_incarnation,
            syncs.sync_log_offset,
            syncs.incarnation,
            syncs.parity_incarnation
        ) as offset_sync

    from checkpoints

    inner join syncs
        on
            checkpoints.flow = syncs.flow
            and checkpoints.known_sync_log_offset = syncs.sync_log_offset

),

checkpoints_explained as (

    select
        flow,
        group_id,
        target_topic_name,
        partition_index,
        offset_sync.incarnation,
        offset_sync.parity_incarnation,
        offset_sync.syncs_incarnation,
        offset_sync.sync_log_offset

    from matched

)

select * from checkpoints_explained
