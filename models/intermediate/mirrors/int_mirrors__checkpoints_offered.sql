with

flows as (

    select * from {{ ref('int_mirrors__flows_configured') }}

    where is_in_scope

),

groups_due as (

    select * from {{ ref('int_mirrors__target_groups_due') }}

),

translations as (

    select * from {{ ref('int_mirrors__offset_translations_known') }}

),

{# a group is offered while it has an offset on a topic of the flow #}
groups_mirrored as (

    select distinct
        flow,
        group_id

    from translations

    where reason_code not in ('TOPIC_FILTERED', 'GROUP_FILTERED', 'NO_COMMIT')

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

{# topics without syncs may have the same name on the target #}
translations_ranked as (

    select
        *,
        row_number() over (
            partition by flow, group_id, target_topic_name, partition_index
            order by if(decision = 'emit', 0, 1), length(topic_name), topic_name
        ) as place

    from translations

    where reason_code not in ('TOPIC_FILTERED', 'GROUP_FILTERED', 'NO_COMMIT')

),

translated as (

    select * from translations_ranked

    where place = 1

),

checkpoints as (

    select checkpoints.*

    from {{ ref('stg_state__checkpoints') }} as checkpoints

    left semi join flows
        on checkpoints.flow = flows.flow

    left semi join groups_due
        on
            checkpoints.flow = groups_due.flow
            and checkpoints.group_id = groups_due.group_id

),

{# a checkpoint that a group has from before its topic was created anew is of the old one #}
commits_later as (

    select distinct
        commits.flow,
        commits.group_id,
        commits.target_topic_name,
        commits.partition_index

    from {{ ref('int_mirrors__commits_found') }} as commits

    inner join flows
        on commits.flow = flows.flow

    where
        commits.committed_topic = 'later'
        and flows.knows_incarnations

),

refuted as (

    select * from {{ ref('int_mirrors__checkpoints_refuted') }}

),

bounded as (

    select * from {{ ref('int_mirrors__checkpoints_bounded') }}

),

{# what is emitted takes the place of the checkpoint that it was compared with #}
beside_translations as (

    select
        flow,
        group_id,
        target_topic_name,
        partition_index,
        coalesce(translated.decision = 'emit', false)
        and translated.observed_upstream_offset <=> checkpoints.upstream_offset
        and translated.observed_downstream_offset <=> checkpoints.downstream_offset
        and translated.translated_offset is not null as is_emitted,
        translated.translated_offset,
        translated.reason_code,
        translated.upper_bound,
        translated.upstream_offset as committed_offset,
        checkpoints.upstream_offset,
        checkpoints.downstream_offset

    from translated

    full outer join checkpoints using (
        flow, group_id, target_topic_name, partition_index
    )

),

{# a group that went back, and has no new place yet, would skip what it wants to read again #}
offers_judged as (

    select
        flow,
        group_id,
        target_topic_name,
        partition_index,
        if(
            beside.is_emitted, beside.translated_offset, beside.downstream_offset
        ) as to_offset,
        case
            when beside.is_emitted then null
            when refuted.reason_code is not null then refuted.reason_code
            when beside.reason_code = 'COMMIT_FROM_OLD_INCARNATION' then beside.reason_code
            when commits_later.flow is not null and beside.reason_code = 'NO_SYNC'
                then 'CHECKPOINT_FROM_OLD_INCARNATION'
            when beside.downstream_offset > ended_before.log_end_offset
                then 'WOULD_EXCEED_TARGET_END'
            when
                beside.downstream_offset > coalesce(beside.upper_bound, bounded.bound)
                or beside.upstream_offset > beside.committed_offset
                then 'CHECKPOINT_PAST_UPPER_BOUND'
        end as refusal_code

    from beside_translations as beside

    left join refuted
        using (flow, group_id, target_topic_name, partition_index)

    left join commits_later
        using (flow, group_id, target_topic_name, partition_index)

    left join bounded
        using (flow, group_id, target_topic_name, partition_index)

    left join ended_before
        using (flow, group_id, target_topic_name, partition_index)

),

checkpoints_offered as (

    select judged.*

    from offers_judged as judged

    left semi join groups_mirrored as mirrored
        on judged.flow = mirrored.flow and judged.group_id = mirrored.group_id

    {# null: there is none; below 0: MirrorMaker's word for none #}
    where judged.to_offset >= 0

)

select * from checkpoints_offered
