with

flows as (

    select * from {{ ref('int_mirrors__flows_configured') }}

    where is_in_scope

),

groups_due as (

    select * from {{ ref('int_mirrors__target_groups_due') }}

),

translations as (

    select known.*

    from {{ ref('int_mirrors__offset_translations_known') }} as known

    left semi join groups_due
        on
            known.flow = groups_due.flow
            and known.group_id = groups_due.group_id

),

{# a group is offered while it has an offset on a topic of the flow #}
groups_mirrored as (

    select distinct
        flow,
        group_id

    from translations

    where reason_code not in ('TOPIC_FILTERED', 'GROUP_FILTERED', 'NO_COMMIT')

),

{# a target partition that began anew says so here, as far as the rule set minds #}
partitions as (

    select
        mirrored.flow,
        mirrored.topic_name,
        mirrored.partition_index,
        mirrored.incarnation

    from {{ ref('stg_state__mirrored_partitions') }} as mirrored

    left semi join flows
        on
            mirrored.flow = flows.flow
            and flows.knows_incarnations

),

ends as (

    select * from {{ ref('int_mirrors__partition_ends') }}

),

{# where the target is known to end before what the commit comes to #}
ended_before as (

    select
        translations.flow,
        translations.group_id,
        translations.target_topic_name,
        translations.partition_index,
        ends.log_end_offset

    from translations

    inner join flows using (flow)

    inner join ends
        on
            flows.target_cluster_id = ends.cluster_id
            and translations.target_topic_name = ends.topic_name
            and translations.partition_index = ends.partition_index

    where translations.reason_code = 'WOULD_EXCEED_TARGET_END'

),

emitted as (

    select * from translations

    where decision = 'emit'

),

checkpoints as (

    select
        checkpoints.flow,
        checkpoints.group_id,
        checkpoints.target_topic_name,
        checkpoints.partition_index,
        checkpoints.upstream_offset,
        checkpoints.downstream_offset,
        coalesce(
            checkpoints.incarnation < partitions.incarnation
            or checkpoints.downstream_offset < 0
            or checkpoints.downstream_offset > ended_before.log_end_offset,
            false
        ) as is_over

    from {{ ref('stg_state__checkpoints') }} as checkpoints

    left semi join flows
        on checkpoints.flow = flows.flow

    left semi join groups_due
        on
            checkpoints.flow = groups_due.flow
            and checkpoints.group_id = groups_due.group_id

    left join partitions using (flow, topic_name, partition_index)

    left join ended_before
        using (flow, group_id, target_topic_name, partition_index)

),

{# what is emitted takes the place of the checkpoint that it was compared with #}
offered as (

    select
        flow,
        group_id,
        target_topic_name,
        partition_index,
        case
            when
                emitted.observed_upstream_offset <=> checkpoints.upstream_offset
                and emitted.observed_downstream_offset <=> checkpoints.downstream_offset
                and emitted.translated_offset is not null
                then emitted.translated_offset
            when not checkpoints.is_over then checkpoints.downstream_offset
        end as to_offset

    from emitted

    full outer join checkpoints using (
        flow, group_id, target_topic_name, partition_index
    )

),

checkpoints_offered as (

    select offered.*

    from offered

    left semi join groups_mirrored as mirrored
        on offered.flow = mirrored.flow and offered.group_id = mirrored.group_id

    where offered.to_offset is not null

)

select * from checkpoints_offered
