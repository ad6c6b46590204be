with

partitions as (

    select * from {{ ref('int_tiers__gauges_due') }}

),

tasks as (

    select * from {{ ref('int_tiers__copy_tasks_found') }}

    where is_last

),

remote_segments as (

    select * from {{ ref('stg_state__remote_segments') }}

    where finished_log_offset is not null

),

local_snapshots as (

    select * from {{ ref('stg_state__local_segments') }}

),

local_segments as (

    select * from {{ ref('int_tiers__local_segments_followed') }}

    where not is_active

),

upload_candidates as (

    select * from {{ ref('int_tiers__upload_candidates_decided') }}

),

partitions_of_lineage as (

    select * from partitions

    where epochs is not null

),

{{ epochs_led('partitions_of_lineage') }},

epochs_copied as (

    select
        remote_segments.cluster_id,
        remote_segments.topic_id,
        remote_segments.partition_index,
        coalesce(remote_segments.copy_finished_at_ms < tasks.started_at_ms, false)
            as is_before_run,
        inline({{ offsets_by_epoch('remote_segments') }})
            as (leader_epoch, first_offset, last_offset)

    from remote_segments

    left join tasks using (cluster_id, topic_id, partition_index)

),

newest_copied as (

    select
        led.cluster_id,
        led.topic_id,
        led.partition_index,
        {{ highest_copied('copied', 'led', 'copied.last_offset is not null') }}
            as highest,
        {{ highest_copied('copied', 'led', 'copied.is_before_run') }}
            as highest_before_run

    from epochs_led as led

    left join epochs_copied as copied using (cluster_id, topic_id, partition_index, leader_epoch)

    group by
        led.cluster_id,
        led.topic_id,
        led.partition_index

),

copied_offsets as (

    select
        cluster_id,
        topic_id,
        partition_index,
        coalesce(highest.last_offset, -1) as copied_offset,
        coalesce(highest_before_run.last_offset, -1) as copied_before_run

    from newest_copied

),

{# a segment is closed when its successor takes its first record, and only the
   largest timestamp of that is known: with records at an even pace it is the
   span from one to the other divided by their number, exact for one record #}
segments_closed as (

    select
        cluster_id,
        topic_id,
        partition_index,
        broker_id,
        base_offset,
        local_segments.size_bytes,
        local_segments.max_timestamp_ms
        + coalesce(
            greatest(
                local_segments.next_max_timestamp_ms - local_segments.max_timestamp_ms, 0
            )
            div nullif(local_segments.next_record_count, 0),
            0
        ) as closed_at_ms,
        upload_candidates.decision,
        upload_candidates.reason_code

    from local_segments

    left join upload_candidates
        using (cluster_id, topic_id, partition_index, broker_id, base_offset)

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
        segments_closed.base_offset,
        segments_closed.size_bytes,
        segments_closed.closed_at_ms,
        coalesce(segments_closed.decision = 'upload', false) as is_eligible,
        segments_closed.reason_code

    from partitions

    left semi join local_snapshots using (cluster_id, topic_id, partition_index, broker_id)

    inner join copied_offsets using (cluster_id, topic_id, partition_index)

    left join tasks using (cluster_id, topic_id, partition_index)

    left join segments_closed using (cluster_id, topic_id, partition_index, broker_id)

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
