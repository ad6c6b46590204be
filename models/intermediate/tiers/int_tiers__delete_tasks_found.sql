with

partitions as (

    select * from {{ ref('int_tiers__gauges_due') }}

),

remote_log_records as (

    select * from {{ ref('stg_decoded__remote_log_records') }}

    where
        decode_status in ('ok', 'ok_trailing')
        and segment_state is not null

),

events_read as (

    select
        remote_log_records.cluster_id,
        remote_log_records.topic_id,
        remote_log_records.partition_index,
        remote_log_records.log_offset,
        remote_log_records.segment_id,
        remote_log_records.segment_state,
        remote_log_records.event_at_ms,
        remote_log_records.broker_id = partitions.broker_id as is_of_leader,
        partitions.task_interval_ms,
        lag(remote_log_records.segment_state) over of_segment
            as previous_state,
        last_value(
            if(
                remote_log_records.segment_state = 'COPY_SEGMENT_STARTED',
                remote_log_records.segment_id,
                null
            )
        ) ignore nulls over of_partition as last_copied_segment_id,
        {# of before the present leadership is every other broker's event #}
        max(
            if(
                remote_log_records.broker_id = partitions.broker_id,
                null,
                remote_log_records.log_offset
            )
        ) over (
            partition by
                remote_log_records.cluster_id,
                remote_log_records.topic_id,
                remote_log_records.partition_index
        ) as others_log_offset

    from partitions

    inner join remote_log_records using (cluster_id, topic_id, partition_index)

    window
        of_segment as (
            partition by
                remote_log_records.cluster_id,
                remote_log_records.segment_id
            order by remote_log_records.log_offset
        ),
        of_partition as (
            partition by
                remote_log_records.cluster_id,
                remote_log_records.topic_id,
                remote_log_records.partition_index
            order by remote_log_records.log_offset
        )

),

{# what a copy that failed leaves is cleaned up by the copy itself #}
clean_ups_reported as (

    select
        *,
        coalesce(
            segment_state = 'DELETE_SEGMENT_STARTED'
            and previous_state = 'COPY_SEGMENT_STARTED'
            and segment_id = last_copied_segment_id,
            false
        ) as is_clean_up

    from events_read

    where
        log_offset > coalesce(others_log_offset, -1)
        and case segment_state
            when 'DELETE_SEGMENT_STARTED' then true
            when 'DELETE_SEGMENT_FINISHED'
                then previous_state = 'DELETE_SEGMENT_STARTED'
        end

),

clean_ups_ended as (

    select
        *,
        is_clean_up
        or (
            segment_state = 'DELETE_SEGMENT_FINISHED'
            and lag(is_clean_up, 1, false) over (
                partition by
                    cluster_id,
                    segment_id
                order by log_offset
            )
        ) as is_of_copy

    from clean_ups_reported

),

events_ordered as (

    select
        cluster_id,
        topic_id,
        partition_index,
        log_offset,
        segment_id,
        segment_state,
        event_at_ms,
        task_interval_ms,
        lag(segment_state) over in_order as previous_state,
        lag(event_at_ms) over in_order as previous_event_at_ms

    from clean_ups_ended

    where not is_of_copy

    window in_order as (
        partition by
            cluster_id,
            topic_id,
            partition_index
        order by log_offset
    )

),

{# a run deletes one segment after the other and ends with the first that
   fails, so two marks in a row are two runs; else at least the interval lies
   between the runs #}
events_numbered as (

    select
        cluster_id,
        topic_id,
        partition_index,
        log_offset,
        segment_id,
        segment_state,
        event_at_ms,
        count_if(
            previous_state is null
            or (
                segment_state = 'DELETE_SEGMENT_STARTED'
                and (
                    previous_state = 'DELETE_SEGMENT_STARTED'
                    or event_at_ms - previous_event_at_ms >= task_interval_ms
                )
            )
        ) over (
            partition by
                cluster_id,
                topic_id,
                partition_index
            order by log_offset
        ) as run_number

    from events_ordered

),

tasks as (

    select
        cluster_id,
        topic_id,
        partition_index,
        run_number,
        min(event_at_ms) as started_at_ms,
        min(log_offset) as started_log_offset,
        max_by(event_at_ms, log_offset) as last_event_at_ms,
        collect_set(segment_id) as segment_ids,
        collect_list(
            if(segment_state = 'DELETE_SEGMENT_FINISHED', segment_id, null)
        ) as deleted_segment_ids,
        max_by(segment_state, log_offset) = 'DELETE_SEGMENT_STARTED'
            as ends_unfinished

    from events_numbered

    group by
        cluster_id,
        topic_id,
        partition_index,
        run_number

),

delete_tasks_found as (

    select
        *,
        run_number = max(run_number) over (
            partition by
                cluster_id,
                topic_id,
                partition_index
        ) as is_last

    from tasks

)

select * from delete_tasks_found
