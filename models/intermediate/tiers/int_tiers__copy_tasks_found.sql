with

partitions as (

    select * from {{ ref('int_tiers__gauges_due') }}

),

remote_segments as (

    select * from {{ ref('stg_state__remote_segments') }}

),

attempts as (

    select
        remote_segments.cluster_id,
        remote_segments.topic_id,
        remote_segments.partition_index,
        remote_segments.segment_id,
        remote_segments.start_offset,
        remote_segments.copy_started_at_ms,
        coalesce(
            remote_segments.copy_finished_at_ms,
            remote_segments.delete_started_at_ms
        ) as ended_at_ms,
        case
            when remote_segments.finished_log_offset is not null then 'copied'
            when remote_segments.delete_started_at_ms is not null then 'failed'
            else 'open'
        end as outcome,
        partitions.broker_id,
        partitions.task_interval_ms,
        {# of before the present leadership is every other broker's copy #}
        max(
            if(
                remote_segments.started_broker_id = partitions.broker_id,
                null,
                remote_segments.copy_started_at_ms
            )
        ) over (
            partition by
                remote_segments.cluster_id,
                remote_segments.topic_id,
                remote_segments.partition_index
        ) as others_started_at_ms

    from partitions

    inner join remote_segments using (cluster_id, topic_id, partition_index)

),

attempts_ordered as (

    select
        *,
        row_number() over in_order as attempt_number,
        lag(outcome) over in_order as previous_outcome,
        lag(ended_at_ms) over in_order as previous_ended_at_ms,
        lead(segment_id) over in_order is null as is_last

    from attempts

    where copy_started_at_ms > coalesce(others_started_at_ms, -1)

    window in_order as (
        partition by
            cluster_id,
            topic_id,
            partition_index
        order by
            copy_started_at_ms,
            start_offset,
            segment_id
    )

),

attempts_ended as (

    select
        cluster_id,
        topic_id,
        partition_index,
        attempt_number,
        broker_id,
        copy_started_at_ms as started_at_ms,
        {# the storage said that it may be tried again: nothing is cleaned #}
        if(
            outcome = 'open' and not is_last,
            copy_started_at_ms,
            ended_at_ms
        ) as ended_at_ms,
        case
            when outcome <> 'open' then outcome
            when is_last then 'hanging'
            else 'given_up'
        end as outcome,
        is_last,
        coalesce(
            previous_outcome <> 'copied'
            or copy_started_at_ms - previous_ended_at_ms
            >= task_interval_ms,
            true
        ) as is_first_of_run

    from attempts_ordered

),

attempts_numbered as (

    select
        *,
        count_if(is_first_of_run) over (
            partition by
                cluster_id,
                topic_id,
                partition_index
            order by attempt_number
        ) as run_number

    from attempts_ended

),

tasks as (

    select
        cluster_id,
        topic_id,
        partition_index,
        run_number,
        broker_id,
        min(started_at_ms) as started_at_ms,
        max_by(ended_at_ms, attempt_number) as ended_at_ms,
        count(*) as attempts,
        count_if(outcome = 'copied') as segments_copied,
        max_by(outcome, attempt_number) as outcome,
        bool_or(is_last) as is_last

    from attempts_numbered

    group by
        cluster_id,
        topic_id,
        partition_index,
        run_number,
        broker_id

),

copy_tasks_found as (

    select
        *,
        lag(ended_at_ms) over (
            partition by
                cluster_id,
                topic_id,
                partition_index
            order by run_number
        ) as previous_ended_at_ms

    from tasks

)

select * from copy_tasks_found
