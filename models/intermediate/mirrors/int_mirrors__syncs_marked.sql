with

syncs_loaded as (

    select * from {{ ref('int_mirrors__syncs_loaded') }}

),

records as (

    select * from {{ ref('stg_decoded__offset_syncs') }}

),

flows as (

    select * from {{ ref('int_mirrors__flows_configured') }}

),

partitions_due as (

    select * from {{ ref('int_mirrors__sync_partitions_due') }}

),

partitions as (

    select * from {{ ref('stg_state__mirrored_partitions') }}

),

topics_recreated as (

    select
        flow,
        topic_name,
        collect_list(struct(recreated_at_ms, last_seen_before_at_ms)) filter (where not is_over)
            as recreations

    from {{ ref('int_mirrors__topics_recreated') }}

    group by
        flow,
        topic_name

),

all_syncs as (

    {{ syncs_of('records', 'flows') }}

),

syncs_found as (

    select
        *,
        false as is_refolded

    from syncs_loaded

    union all

    select
        *,
        true as is_refolded

    from all_syncs

),

{# where the history goes on: what is known after the last sync stands in for all before it #}
syncs_to_fold as (

    select
        partitions.flow,
        partitions.syncs_incarnation,
        partitions.sync_log_offset,
        partitions.topic_name,
        partitions.partition_index,
        partitions.upstream_offset,
        partitions.downstream_offset,
        partitions.recorded_at_ms,
        partitions.topic_recreated_at_ms,
        true as is_stored

    from partitions

    left semi join partitions_due
        on
            partitions.flow = partitions_due.flow
            and partitions.topic_name = partitions_due.topic_name
            and partitions.partition_index = partitions_due.partition_index
            and not partitions_due.is_refolded

    union all

    select
        syncs_found.flow,
        syncs_found.syncs_incarnation,
        syncs_found.sync_log_offset,
        syncs_found.topic_name,
        syncs_found.partition_index,
        syncs_found.upstream_offset,
        syncs_found.downstream_offset,
        syncs_found.recorded_at_ms,
        null as topic_recreated_at_ms,
        false as is_stored

    from syncs_found

    left semi join partitions_due using (flow, topic_name, partition_index, is_refolded)

),

syncs_ordered as (

    select
        *,
        lag(sync_log_offset) over history as previous_sync_log_offset,
        lag(upstream_offset) over history as previous_upstream_offset,
        lag(downstream_offset) over history as previous_downstream_offset

    from syncs_to_fold

    window history as (
        partition by flow, topic_name, partition_index
        order by syncs_incarnation, sync_log_offset
    )

),

{# of a topic that was created anew is what came behind its id, or behind a step back before that #}
steps_measured as (

    select
        steps.* except (topic_recreated_at_ms),
        steps.upstream_offset - steps.previous_upstream_offset as upstream_step,
        steps.downstream_offset - steps.previous_downstream_offset as downstream_step,
        if(
            steps.is_stored,
            steps.topic_recreated_at_ms,
            array_max(
                transform(
                    filter(
                        topics_recreated.recreations,
                        r -> steps.recorded_at_ms >= r.recreated_at_ms
                        or (
                            steps.recorded_at_ms > r.last_seen_before_at_ms
                            and steps.upstream_offset < steps.previous_upstream_offset
                        )
                    ),
                    r -> r.recreated_at_ms
                )
            )
        ) as topic_recreated_at_ms

    from syncs_ordered as steps

    left join topics_recreated using (flow, topic_name)

),

topics_followed as (

    select
        * except (topic_recreated_at_ms),
        max(topic_recreated_at_ms) over so_far as topic_recreated_at_ms,
        coalesce(
            previous_sync_log_offset is not null
            and max(topic_recreated_at_ms) over so_far
            > coalesce(max(topic_recreated_at_ms) over before, -1),
            false
        ) as is_of_new_topic

    from steps_measured

    window
        so_far as (
            partition by flow, topic_name, partition_index
            order by syncs_incarnation, sync_log_offset
            rows between unbounded preceding and current row
        ),
        before as (
            partition by flow, topic_name, partition_index
            order by syncs_incarnation, sync_log_offset
            rows between unbounded preceding and 1 preceding
        )

),

{# a sync that was sent twice begins nothing #}
syncs_marked as (

    select
        steps.flow,
        steps.syncs_incarnation,
        steps.sync_log_offset,
        steps.topic_name,
        steps.partition_index,
        steps.upstream_offset,
        steps.downstream_offset,
        steps.recorded_at_ms,
        steps.is_stored,
        steps.previous_sync_log_offset,
        steps.previous_upstream_offset,
        steps.previous_downstream_offset,
        steps.upstream_step,
        steps.downstream_step,
        steps.topic_recreated_at_ms,
        steps.is_of_new_topic,
        (
            coalesce(steps.downstream_step <= 0, false)
            and not (steps.upstream_step = 0 and steps.downstream_step = 0)
        )
        or steps.is_of_new_topic as begins_incarnation,
        coalesce(
            steps.upstream_step < 0
            or (steps.downstream_step <= 0 and steps.upstream_step > 0),
            false
        )
        or steps.is_of_new_topic as begins_parity_incarnation,
        (
            coalesce(
                steps.downstream_step <= 0
                or steps.upstream_step <= 0
                or (
                    not flows.is_exactly_once
                    and steps.downstream_step > steps.upstream_step
                ),
                false
            )
            and not (steps.upstream_step = 0 and steps.downstream_step = 0)
        )
        or steps.is_of_new_topic as begins_segment,
        coalesce(
            steps.upstream_step > 0
            and steps.downstream_step > steps.upstream_step,
            false
        )
        and not steps.is_of_new_topic as has_surplus_step

    from topics_followed as steps

    inner join flows using (flow)

)

select * from syncs_marked
