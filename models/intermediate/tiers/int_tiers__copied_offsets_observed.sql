with

partitions as (

    select * from {{ ref('int_tiers__gauges_due') }}

    where epochs is not null

),

tasks as (

    select * from {{ ref('int_tiers__copy_tasks_found') }}

    where is_last

),

segments as (

    select * from {{ ref('stg_state__remote_segments') }}

    where finished_log_offset is not null

),

{{ epochs_led('partitions') }},

epochs_copied as (

    select
        segments.cluster_id,
        segments.topic_id,
        segments.partition_index,
        coalesce(segments.copy_finished_at_ms < tasks.started_at_ms, false)
            as is_before_run,
        inline({{ offsets_by_epoch('segments') }})
            as (leader_epoch, first_offset, last_offset)

    from segments

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

copied_offsets_observed as (

    select
        cluster_id,
        topic_id,
        partition_index,
        coalesce(highest.last_offset, -1) as copied_offset,
        coalesce(highest_before_run.last_offset, -1) as copied_before_run

    from newest_copied

)

select * from copied_offsets_observed
