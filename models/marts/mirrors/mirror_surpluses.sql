with

flows as (

    select * from {{ ref('stg_state__flows') }}

),

rule_sets as (

    select * from {{ ref('rule_sets') }}

    where domain = 'mirrors'

),

partitions as (

    select * from {{ ref('stg_state__mirrored_partitions') }}

    where has_surplus

),

{# of the first sync of an incarnation the one before was of another log #}
steps as (

    select
        syncs.flow,
        syncs.topic_name,
        syncs.partition_index,
        syncs.upstream_offset,
        syncs.is_admitted,
        syncs.segment_index,
        syncs.sync_log_offset > partitions.first_sync_log_offset as is_step,
        syncs.upstream_offset - syncs.previous_upstream_offset as upstream_step,
        syncs.downstream_offset - syncs.previous_downstream_offset as downstream_step

    from {{ ref('stg_state__offset_syncs') }} as syncs

    inner join partitions using (flow, topic_name, partition_index)

    where syncs.incarnation = partitions.incarnation

),

gains as (

    select
        *,
        if(
            is_step and upstream_step > 0 and downstream_step > upstream_step,
            downstream_step - upstream_step,
            null
        ) as gained_offsets

    from steps

),

{# a segment that such a step begins waits as if it were a replay #}
segments_told as (

    select
        *,
        max(gained_offsets) over (
            partition by flow, topic_name, partition_index, segment_index
        ) is not null as is_begun_by_gain

    from gains

),

partitions_counted as (

    select
        flow,
        topic_name,
        partition_index,
        count_if(is_step) as steps,
        count(gained_offsets) as surplus_steps,
        {{ long_sum('gained_offsets') }} as surplus_offsets,
        {{ long_sum('upstream_step', where='gained_offsets is not null') }} as over_offsets,
        min(
            if(is_begun_by_gain and not is_admitted, upstream_offset, null)
        ) as waits_from_offset

    from segments_told

    group by
        flow,
        topic_name,
        partition_index

),

mirror_surpluses as (

    select
        counted.flow,
        counted.topic_name,
        counted.partition_index,
        {{ target_topic_name('flows', 'counted.topic_name') }} as target_topic_name,
        counted.steps,
        counted.surplus_steps,
        counted.surplus_offsets,
        counted.over_offsets,
        flows.is_exactly_once,
        if(
            rule_sets.waits_for_replays and not flows.is_exactly_once,
            counted.waits_from_offset,
            null
        ) as waits_from_offset,
        if(
            flows.is_exactly_once, null, 'exactly.once.source.support'
        ) as setting

    from partitions_counted as counted

    inner join flows
        on counted.flow = flows.flow

    inner join rule_sets
        on flows.ruleset = rule_sets.ruleset

)

select * from mirror_surpluses
