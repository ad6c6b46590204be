with

partitions as (

    select * from {{ ref('int_tiers__gauges_due') }}

),

copied_offsets as (

    select * from {{ ref('int_tiers__copied_offsets_observed') }}

),

tasks as (

    select * from {{ ref('int_tiers__copy_tasks_found') }}

    where is_last

),

local_snapshots as (

    select * from {{ ref('stg_state__local_segments') }}

),

local_segments as (

    select * from {{ ref('int_tiers__local_segments_closed') }}

),

segments_joined as (

    select
        partitions.cluster_id,
        partitions.topic_id,
        partitions.partition_index,
        partitions.broker_id,
        partitions.topic_name,
        partitions.at_ms,
        partitions.task_interval_ms,
        copied_offsets.copied_offset,
        copied_offsets.copied_before_run,
        tasks.outcome,
        tasks.started_at_ms,
        tasks.ended_at_ms,
        tasks.previous_ended_at_ms,
        local_segments.base_offset,
        local_segments.size_bytes,
        local_segments.closed_at_ms,
        coalesce(local_segments.decision = 'upload', false) as is_eligible,
        local_segments.reason_code

    from partitions

    left semi join local_snapshots using (cluster_id, topic_id, partition_index, broker_id)

    inner join copied_offsets using (cluster_id, topic_id, partition_index)

    left join tasks using (cluster_id, topic_id, partition_index)

    left join local_segments using (cluster_id, topic_id, partition_index, broker_id)

),

{# a run goes on while it has not copied what it found when it began #}
runs_judged as (

    select
        *,
        coalesce(
            outcome = 'hanging'
            or (
                outcome = 'copied'
                and at_ms - ended_at_ms < task_interval_ms
                and bool_or(is_eligible and closed_at_ms <= started_at_ms)
                    over (
                        partition by
                            cluster_id,
                            topic_id,
                            partition_index
                    )
            ),
            false
        ) as is_open

    from segments_joined

),

{# what the run before wrote is shown: the one that copied if no other fits
   between the two, else an idle one, an interval before #}
copy_segments_shown as (

    select
        cluster_id,
        topic_id,
        partition_index,
        base_offset,
        broker_id,
        topic_name,
        size_bytes,
        closed_at_ms,
        is_eligible,
        reason_code,
        is_open,
        case
            when not is_open then null
            when started_at_ms - previous_ended_at_ms < 2 * task_interval_ms
                then previous_ended_at_ms
            else started_at_ms - task_interval_ms
        end as shown_since_ms,
        if(is_open, copied_before_run, copied_offset) as copied_offset

    from runs_judged

)

select * from copy_segments_shown
