with

segments as (

    select * from {{ ref('stg_state__remote_segments') }}

),

epochs_exploded as (

    select
        *,
        explode({{ offsets_by_epoch('segments') }}) as epoch

    from segments

),

epochs_bounded as (

    select
        cluster_id,
        segment_id,
        topic_id,
        topic_name,
        partition_index,
        epoch.leader_epoch,
        epoch.start_offset as first_offset,
        epoch.last_offset,
        start_offset,
        segment_state,
        copy_finished_at_ms,
        finished_log_offset,
        finished_log_offset is not null as is_finished

    from epochs_exploded

),

ends_compared as (

    select
        *,
        last_offset >= coalesce(
            max(last_offset) over earlier_in_epoch, last_offset
        ) as is_furthest,
        first_offset <= max(first_offset) over earlier_in_epoch as is_back

    from epochs_bounded

    window
        earlier_in_epoch as (
            partition by
                cluster_id,
                topic_id,
                partition_index,
                leader_epoch,
                is_finished
            order by finished_log_offset
            rows between unbounded preceding and 1 preceding
        )

),

{# Kafka, RemoteLogLeaderEpochState: a segment that reaches as far as all
   before it pushes out what starts where it starts or later; another one
   only takes the place of its own first offset #}
followers_known as (

    select
        *,
        filter(
            collect_list(
                if(
                    is_furthest and is_back,
                    struct(finished_log_offset, first_offset),
                    null
                )
            ) over (
                partition by
                    cluster_id,
                    topic_id,
                    partition_index,
                    leader_epoch,
                    is_finished
            ),
            push -> push.first_offset <= first_offset
            and push.finished_log_offset > finished_log_offset
        ) as pushes,
        lead(
            if(
                is_furthest,
                null,
                struct(finished_log_offset, segment_id, copy_finished_at_ms)
            )
        ) over (
            partition by
                cluster_id,
                topic_id,
                partition_index,
                leader_epoch,
                is_finished,
                first_offset
            order by finished_log_offset
        ) as replacement

    from ends_compared

),

segment_epochs as (

    select
        cluster_id,
        segment_id,
        leader_epoch,
        topic_id,
        topic_name,
        partition_index,
        first_offset,
        last_offset,
        start_offset,
        segment_state,
        is_finished,
        case
            when segment_state = 'DELETE_SEGMENT_FINISHED' then 'none'
            when segment_state <> 'COPY_SEGMENT_FINISHED' then 'unreferenced'
            when
                exists(
                    pushes,
                    push -> replacement is null
                    or push.finished_log_offset
                    < replacement.finished_log_offset
                )
                then 'unreferenced'
            when replacement is not null then 'none'
            else 'indexed'
        end as listing,
        replacement.segment_id as next_segment_id,
        replacement.copy_finished_at_ms as replaced_at_ms

    from followers_known

)

select * from segment_epochs
