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
delete_segments_placed as (

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

)

select * from delete_segments_placed
