with

checkpoints as (

    select * from {{ ref('int_mirrors__checkpoints_of_mirror_maker') }}

),

syncs as (

    select
        *,
        struct(
            sync_log_offset,
            upstream_offset,
            downstream_offset,
            incarnation,
            recorded_at_ms
        ) as sync_known

    from {{ ref('stg_state__offset_syncs') }}

),

{# MirrorMaker gives the offset of a sync to a group that stands on it, the one
   behind it to others #}
wanted as (

    select
        *,
        downstream_offset as sync_downstream_offset

    from checkpoints

    union all

    select
        *,
        downstream_offset - 1 as sync_downstream_offset

    from checkpoints

),

matched as (

    select
        wanted.flow,
        wanted.log_offset,
        max(
            struct(
                syncs.recorded_at_ms <= wanted.emitted_at_ms as is_before,
                syncs.sync_log_offset,
                syncs.sync_known
            )
        ) as latest

    from wanted

    inner join syncs
        on
            wanted.flow = syncs.flow
            and wanted.topic_name = syncs.topic_name
            and wanted.partition_index = syncs.partition_index
            and wanted.sync_downstream_offset = syncs.downstream_offset

    where
        wanted.upstream_offset >= syncs.upstream_offset
        and (wanted.upstream_offset = syncs.upstream_offset)
        = (wanted.downstream_offset = syncs.downstream_offset)

    group by
        wanted.flow,
        wanted.log_offset

),

explained as (

    select
        checkpoints.*,
        matched.latest.sync_known as sync_used

    from checkpoints

    left join matched using (flow, log_offset)

),

timeline as (

    select
        flow,
        topic_name,
        partition_index,
        incarnation,
        upstream_offset,
        recorded_at_ms as at_ms,
        0 as is_checkpoint,
        cast(null as bigint) as log_offset,
        sync_known

    from syncs

    union all

    select
        flow,
        topic_name,
        partition_index,
        sync_used.incarnation,
        upstream_offset,
        emitted_at_ms as at_ms,
        1 as is_checkpoint,
        log_offset,
        null as sync_known

    from explained

    where sync_used is not null

),

{# in an incarnation the copies only go on: of several syncs the last is best #}
syncs_known as (

    select
        flow,
        log_offset,
        upstream_offset,
        at_ms,
        is_checkpoint,
        max(sync_known) over (
            partition by flow, topic_name, partition_index, incarnation
            order by upstream_offset, is_checkpoint
            rows between unbounded preceding and current row
        ) as nearest,
        max(sync_known) over (
            partition by flow, topic_name, partition_index, incarnation
            order by at_ms, is_checkpoint
            rows between unbounded preceding and current row
        ) as newest

    from timeline

),

{# the sync nearest to the group may not have been written yet; then the newest
   is, if it is not behind the group for a replay #}
best_known as (

    select
        flow,
        log_offset,
        upstream_offset,
        case
            when nearest.recorded_at_ms <= at_ms then nearest
            when newest.upstream_offset <= upstream_offset then newest
        end as best

    from syncs_known

    where is_checkpoint = 1

),

mirror_maker_checkpoints as (

    select
        explained.flow,
        explained.log_offset,
        explained.group_id,
        explained.target_topic_name,
        explained.partition_index,
        explained.topic_name,
        explained.upstream_offset,
        explained.downstream_offset,
        case
            when explained.sync_used is null then 'UNEXPLAINED_CHECKPOINT'
            when explained.sync_used.upstream_offset = explained.upstream_offset
                then 'ON_SYNC'
            else 'BEHIND_SYNC'
        end as explanation,
        explained.sync_used.sync_log_offset,
        explained.sync_used.upstream_offset as sync_upstream_offset,
        explained.sync_used.downstream_offset as sync_downstream_offset,
        explained.sync_used.incarnation,
        best_known.best.downstream_offset
        + if(best_known.best.upstream_offset = best_known.upstream_offset, 0, 1)
            as known_offset,
        row_number() over (
            partition by
                explained.flow,
                explained.group_id,
                explained.target_topic_name,
                explained.partition_index
            order by explained.log_offset desc
        ) = 1 as is_latest,
        {{ instant('explained.emitted_at_ms') }} as emitted_at

    from explained

    left join best_known using (flow, log_offset)

),

checkpoints_with_loss as (

    select
        flow,
        log_offset,
        group_id,
        target_topic_name,
        partition_index,
        topic_name,
        upstream_offset,
        downstream_offset,
        explanation,
        sync_log_offset,
        sync_upstream_offset,
        sync_downstream_offset,
        incarnation,
        if(known_offset is null, null, greatest(known_offset, downstream_offset))
            as best_offset,
        if(known_offset is null, null, greatest(known_offset - downstream_offset, 0))
            as loss,
        is_latest,
        emitted_at

    from mirror_maker_checkpoints

)

select * from checkpoints_with_loss
