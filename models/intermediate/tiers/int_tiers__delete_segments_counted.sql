with

segments_gathered as (

    select * from {{ ref('int_tiers__delete_segments_gathered') }}

),

segments_judged as (

    select
        *,
        epochs > 0 and earlier_epochs = epochs as is_earlier,
        is_of_run or (is_live and is_chosen) as is_due,
        is_live and is_chosen and reason_code = 'LOG_START' as is_passed

    from segments_gathered

),

runs_opened as (

    select
        *,
        min(
            if(
                is_of_run,
                struct(
                    delete_started_log_offset,
                    is_earlier and not is_retried as is_cut_off
                ),
                null
            )
        ) over of_partition as first_of_run,
        bool_or(not is_earlier and (is_of_run or is_passed))
            over of_partition as has_later,
        max(if(is_earlier and is_due, end_offset, null))
            over of_partition as last_earlier_offset,
        max(if(is_of_run and not is_earlier, delete_started_log_offset, null))
            over of_partition as last_walked_log_offset

    from segments_judged

    window of_partition as (
        partition by
            cluster_id,
            topic_id,
            partition_index
    )

),

{# the walk moves the log's start, and cuts the lineage there, before it
   deletes; so a run that began with a segment of earlier epochs walked it, if
   later ones follow or the lineage begins where such a segment ends #}
runs_judged as (

    select
        *,
        coalesce(
            first_of_run.is_cut_off
            and (has_later or earliest_offset = last_earlier_offset + 1),
            false
        ) as has_crossed

    from runs_opened

),

{# the segments of earlier epochs that are left are cleaned up after the walk #}
segments_placed as (

    select
        cluster_id,
        topic_id,
        partition_index,
        segment_id,
        broker_id,
        topic_name,
        shown,
        segments_live,
        size_bytes,
        is_live,
        is_of_run,
        times_deleted,
        is_retried,
        epochs,
        earlier_epochs,
        lineage_epochs,
        is_chosen,
        reason_code,
        is_walked,
        is_passed,
        is_earlier,
        is_earlier and not (
            has_crossed
            and if(
                is_of_run,
                coalesce(
                    delete_started_log_offset < last_walked_log_offset, true
                ),
                is_due and not is_retried and last_walked_log_offset is null
            )
        ) as is_unreferenced

    from runs_judged

),

{# what the run had chosen by the time it began to delete: its log start has
   moved over what it chose by time and size; a segment that was marked before
   is listed with each of its epochs, every other one once #}
segments_walked as (

    select
        *,
        case
            when shown not in ('in_run', 'after_run') then 0
            when is_unreferenced then 0
            when is_retried and is_earlier then epochs
            when
                is_retried
                and (is_of_run or (is_live and is_walked and is_chosen))
                then greatest(lineage_epochs, 1)
            when is_of_run or is_earlier or is_passed then 1
            else 0
        end as times_walked

    from segments_placed

),

segments_left as (

    select
        *,
        sum(if(is_unreferenced, 0, times_walked - times_deleted)) over (
            partition by
                cluster_id,
                topic_id,
                partition_index
        ) as left_to_walk

    from segments_walked

),

{# the segments of earlier epochs come after the walk, once for each epoch #}
segments_cleaned as (

    select
        *,
        case
            when shown = 'unwritten' then 0
            when left_to_walk > 0 then 0
            when is_earlier and not is_unreferenced then 0
            when is_live or (is_of_run and is_unreferenced) then earlier_epochs
            else 0
        end as times_cleaned

    from segments_left

),

delete_segments_counted as (

    select
        cluster_id,
        topic_id,
        partition_index,
        segment_id,
        broker_id,
        topic_name,
        segments_live,
        times_walked + times_cleaned - times_deleted as lag_segments,
        {# of a retry the bytes are subtracted and were never added #}
        size_bytes
        * (if(is_retried, 0, times_walked) + times_cleaned - times_deleted)
            as lag_bytes,
        filter(
            array(
                if(
                    is_chosen
                    and times_walked + times_cleaned = 0
                    and (reason_code <> 'DELETE_STARTED' or is_walked),
                    'waits_for_next_run',
                    null
                ),
                if(
                    is_chosen
                    and times_walked + times_cleaned = 0
                    and reason_code = 'DELETE_STARTED'
                    and not is_walked,
                    'omits_marked_behind_walk',
                    null
                ),
                if(is_retried and times_walked > times_deleted, 'omits_bytes_of_retries', null),
                if(
                    is_retried and times_walked > 0 and times_deleted > 0,
                    'keeps_negative_after_retry',
                    null
                ),
                if(
                    greatest(times_walked + times_cleaned, times_deleted) > 1
                    and (times_walked + times_cleaned <> times_deleted or is_retried),
                    'counts_segment_per_epoch',
                    null
                ),
                if(times_cleaned > 0 and not is_unreferenced, 'counts_straddling_epoch', null),
                if(
                    times_walked + times_cleaned > times_deleted
                    and not is_chosen
                    and (times_walked > 0 or is_unreferenced),
                    'counts_unbreached',
                    null
                )
            ),
            cause -> cause is not null
        ) as causes

    from segments_cleaned

)

select * from delete_segments_counted
