with

partitions as (

    select * from {{ ref('int_tiers__gauges_due') }}

    where epochs is not null

),

runs as (

    select * from {{ ref('int_tiers__copy_runs_found') }}

    where is_last

),

segments as (

    select * from {{ ref('stg_state__remote_segments') }}

    where finished_log_offset is not null

),

epochs_copied as (

    select
        segments.cluster_id,
        segments.topic_id,
        segments.partition_index,
        explode({{ offsets_by_epoch('segments') }}) as epoch,
        coalesce(segments.copy_finished_at_ms < runs.started_at_ms, false)
            as is_before_run

    from segments

    left join runs
        on
            segments.cluster_id = runs.cluster_id
            and segments.topic_id = runs.topic_id
            and segments.partition_index = runs.partition_index

),

highest_by_epoch as (

    select
        cluster_id,
        topic_id,
        partition_index,
        epoch.leader_epoch,
        max(epoch.last_offset) as highest_offset,
        max(if(is_before_run, epoch.last_offset, null)) as highest_before_run

    from epochs_copied

    group by
        cluster_id,
        topic_id,
        partition_index,
        epoch.leader_epoch

),

epochs_led as (

    select
        cluster_id,
        topic_id,
        partition_index,
        log_end_offset,
        epochs,
        posexplode(epochs) as (epoch_position, epoch)

    from partitions

),

epochs_joined as (

    select
        epochs_led.cluster_id,
        epochs_led.topic_id,
        epochs_led.partition_index,
        epochs_led.epoch_position,
        highest.highest_offset,
        highest.highest_before_run,
        coalesce(
            get(epochs_led.epochs, epochs_led.epoch_position + 1).start_offset,
            epochs_led.log_end_offset
        )
        - 1 as last_offset

    from epochs_led

    left join highest_by_epoch as highest
        on
            epochs_led.cluster_id = highest.cluster_id
            and epochs_led.topic_id = highest.topic_id
            and epochs_led.partition_index = highest.partition_index
            and epochs_led.epoch.leader_epoch = highest.leader_epoch

),

{# newest epoch first; a newer epoch of the lineage cuts what was copied #}
copied_offsets_observed as (

    select
        cluster_id,
        topic_id,
        partition_index,
        coalesce(
            max_by(
                least(highest_offset, last_offset),
                if(highest_offset is null, null, epoch_position)
            ),
            -1
        ) as copied_offset,
        coalesce(
            max_by(
                least(highest_before_run, last_offset),
                if(highest_before_run is null, null, epoch_position)
            ),
            -1
        ) as copied_before_run

    from epochs_joined

    group by
        cluster_id,
        topic_id,
        partition_index

)

select * from copied_offsets_observed
