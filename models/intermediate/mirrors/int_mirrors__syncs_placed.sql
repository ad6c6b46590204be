{{ config(materialized='run_list', meta={'works_on': 'int_mirrors__sync_partitions_due'}) }}

-- depends_on: {{ ref('int_mirrors__sync_partitions_due') }}

with

{# of a commit that is older than the first sight of a new topic's id nothing tells whose it is #}
syncs_marked as (

    select
        *,
        if(
            is_of_new_topic,
            greatest(recorded_at_ms, topic_recreated_at_ms),
            recorded_at_ms
        ) as valid_from_ms

    from {{ ref('int_mirrors__syncs_marked') }}

),

partitions as (

    select * from {{ ref('stg_state__mirrored_partitions') }}

),

{# what a stored row carries on, and what a sync adds to it #}
contributions as (

    select
        marked.*,
        if(marked.is_stored, known.is_admitted, false) as was_admitted,
        if(
            marked.is_stored,
            known.incarnation,
            cast(marked.begins_incarnation as int)
        ) as incarnation_step,
        if(
            marked.is_stored,
            known.parity_incarnation,
            cast(marked.begins_parity_incarnation as int)
        ) as parity_incarnation_step,
        if(
            marked.is_stored,
            known.segment_index,
            cast(marked.begins_segment as int)
        ) as segment_step,
        case
            when marked.is_stored then known.old_head
            when marked.begins_segment and not marked.begins_incarnation
                then marked.previous_upstream_offset
        end as old_head_step,
        case
            when marked.is_stored then known.tail
            when marked.begins_segment and not marked.begins_incarnation
                then marked.downstream_step - 1
        end as tail_step,
        if(marked.is_stored, known.has_surplus, marked.has_surplus_step)
            as surplus_step,
        case
            when marked.is_stored then known.commits_valid_from_ms
            when
                marked.begins_incarnation
                and (marked.upstream_step <= 0 or marked.is_of_new_topic)
                then marked.valid_from_ms
        end as valid_from_step,
        case
            when marked.is_stored then known.parity_commits_valid_from_ms
            when
                marked.begins_parity_incarnation
                and (marked.upstream_step < 0 or marked.is_of_new_topic)
                then marked.valid_from_ms
        end as parity_valid_from_step,
        if(marked.is_stored, known.caught_up_offset, null)
            as stored_caught_up_offset,
        if(
            marked.is_stored,
            known.segment_first_sync_log_offset,
            marked.sync_log_offset
        ) as segment_first_log_offset_step,
        if(
            marked.is_stored,
            known.first_sync_log_offset,
            marked.sync_log_offset
        ) as first_log_offset_step,
        if(
            marked.is_stored,
            known.first_downstream_offset,
            marked.downstream_offset
        ) as first_downstream_step,
        if(
            marked.is_stored,
            known.parity_first_sync_log_offset,
            marked.sync_log_offset
        ) as parity_first_log_offset_step,
        if(
            marked.is_stored,
            known.parity_first_downstream_offset,
            marked.downstream_offset
        ) as parity_first_downstream_step

    from syncs_marked as marked

    left join partitions as known using (flow, topic_name, partition_index)

),

syncs_numbered as (

    select
        *,
        cast(sum(incarnation_step) over history as int) as incarnation,
        cast(sum(parity_incarnation_step) over history as int)
            as parity_incarnation,
        cast(sum(segment_step) over history as int) as segment_index,
        max(valid_from_step) over history as commits_valid_from_ms,
        max(parity_valid_from_step) over history
            as parity_commits_valid_from_ms

    from contributions

    window history as (
        partition by flow, topic_name, partition_index
        order by syncs_incarnation, sync_log_offset
        rows between unbounded preceding and current row
    )

),

incarnations_followed as (

    select
        *,
        max(old_head_step) over so_far as old_head,
        max(tail_step) over so_far as tail,
        max(surplus_step) over so_far as has_surplus,
        min(first_log_offset_step) over so_far as first_sync_log_offset,
        min(first_downstream_step) over so_far as first_downstream_offset,
        min(parity_first_log_offset_step) over parity_so_far
            as parity_first_sync_log_offset,
        min(parity_first_downstream_step) over parity_so_far
            as parity_first_downstream_offset

    from syncs_numbered

    window
        so_far as (
            partition by flow, topic_name, partition_index, incarnation
            order by syncs_incarnation, sync_log_offset
            rows between unbounded preceding and current row
        ),
        parity_so_far as (
            partition by flow, topic_name, partition_index, parity_incarnation
            order by syncs_incarnation, sync_log_offset
            rows between unbounded preceding and current row
        )

),

segments_followed as (

    select
        *,
        min(
            case
                when is_stored then stored_caught_up_offset
                when upstream_offset >= old_head then downstream_offset
            end
        ) over so_far as caught_up_offset,
        min(segment_first_log_offset_step) over so_far
            as segment_first_sync_log_offset

    from incarnations_followed

    window so_far as (
        partition by flow, topic_name, partition_index, segment_index
        order by syncs_incarnation, sync_log_offset
        rows between unbounded preceding and current row
    )

),

{# a replay has caught up once it has come to where the segments before it
   ended, and by as many records as a task may have written unseen #}
syncs_placed as (

    select
        flow,
        syncs_incarnation,
        sync_log_offset,
        topic_name,
        partition_index,
        upstream_offset,
        downstream_offset,
        recorded_at_ms,
        is_stored,
        previous_sync_log_offset,
        previous_upstream_offset,
        previous_downstream_offset,
        was_admitted,
        incarnation,
        parity_incarnation,
        segment_index,
        old_head,
        tail,
        caught_up_offset,
        has_surplus,
        commits_valid_from_ms,
        parity_commits_valid_from_ms,
        segment_first_sync_log_offset,
        first_sync_log_offset,
        first_downstream_offset,
        parity_first_sync_log_offset,
        parity_first_downstream_offset,
        topic_recreated_at_ms,
        max(
            was_admitted
            or old_head is null
            or coalesce(downstream_offset - caught_up_offset >= tail, false)
        ) over (
            partition by flow, topic_name, partition_index, segment_index
        ) as is_admitted,
        row_number() over (
            partition by flow, topic_name, partition_index
            order by syncs_incarnation desc, sync_log_offset desc
        ) = 1 as is_last

    from segments_followed

)

select * from syncs_placed
