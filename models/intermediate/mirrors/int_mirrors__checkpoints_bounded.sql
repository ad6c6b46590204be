with

checkpoints as (

    select * from {{ ref('stg_state__checkpoints') }}

    where downstream_offset is not null

),

{# what the translation itself gives no bound for: before the first sync, and where it waits #}
unbounded as (

    select
        known.flow,
        known.group_id,
        known.topic_name,
        known.partition_index,
        known.target_topic_name,
        known.upstream_offset as committed_offset

    from {{ ref('int_mirrors__offset_translations_known') }} as known

    left semi join checkpoints
        on
            known.flow = checkpoints.flow
            and known.group_id = checkpoints.group_id
            and known.target_topic_name = checkpoints.target_topic_name
            and known.partition_index = checkpoints.partition_index

    where
        known.upper_bound is null
        and known.upstream_offset is not null

),

partitions as (

    select mirrored.*

    from {{ ref('stg_state__mirrored_partitions') }} as mirrored

    left semi join unbounded
        on
            mirrored.flow = unbounded.flow
            and mirrored.topic_name = unbounded.topic_name
            and mirrored.partition_index = unbounded.partition_index

),

syncs_followed as (

    select
        syncs.flow,
        syncs.topic_name,
        syncs.partition_index,
        syncs.syncs_incarnation,
        syncs.sync_log_offset,
        syncs.upstream_offset,
        syncs.downstream_offset,
        syncs.upstream_offset < lag(syncs.upstream_offset) over (
            partition by syncs.flow, syncs.topic_name, syncs.partition_index
            order by syncs.syncs_incarnation, syncs.sync_log_offset
        ) as goes_back

    from {{ ref('stg_state__offset_syncs') }} as syncs

    inner join partitions
        on
            syncs.flow = partitions.flow
            and syncs.topic_name = partitions.topic_name
            and syncs.partition_index = partitions.partition_index
            and syncs.incarnation = partitions.incarnation

),

{# a replay copies records once more: whoever goes on in the last copy of them skips nothing #}
syncs_counted as (

    select
        *,
        sum(if(goes_back, 1, 0)) over (
            partition by flow, topic_name, partition_index
            order by syncs_incarnation, sync_log_offset
            rows between unbounded preceding and current row
        ) as replays_before,
        sum(if(goes_back, 1, 0)) over (
            partition by flow, topic_name, partition_index
        ) as replays

    from syncs_followed

),

checkpoints_bounded as (

    select
        unbounded.flow,
        unbounded.group_id,
        unbounded.target_topic_name,
        unbounded.partition_index,
        min(syncs.downstream_offset) as bound

    from unbounded

    inner join syncs_counted as syncs
        on
            unbounded.flow = syncs.flow
            and unbounded.topic_name = syncs.topic_name
            and unbounded.partition_index = syncs.partition_index
            and unbounded.committed_offset <= syncs.upstream_offset
            and syncs.replays_before = syncs.replays

    group by
        unbounded.flow,
        unbounded.group_id,
        unbounded.target_topic_name,
        unbounded.partition_index

)

select * from checkpoints_bounded
