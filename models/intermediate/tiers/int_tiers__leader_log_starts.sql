with

partitions_led as (

    select * from {{ ref('int_tiers__partitions_led') }}

),

segment_epochs as (

    select * from {{ ref('int_tiers__segment_epochs') }}

    where listing <> 'none'

),

epochs_led as (

    select
        cluster_id,
        topic_id,
        partition_index,
        inline(epochs) as (leader_epoch, epoch_start_offset)

    from partitions_led

),

first_segments as (

    select
        epochs_led.cluster_id,
        epochs_led.topic_id,
        epochs_led.partition_index,
        min(
            struct(epochs_led.leader_epoch, segment_epochs.start_offset)
        ) as first_segment

    from epochs_led

    inner join segment_epochs
        on
            epochs_led.cluster_id = segment_epochs.cluster_id
            and epochs_led.topic_id = segment_epochs.topic_id
            and epochs_led.partition_index = segment_epochs.partition_index
            and epochs_led.leader_epoch = segment_epochs.leader_epoch

    group by
        epochs_led.cluster_id,
        epochs_led.topic_id,
        epochs_led.partition_index

),

leader_log_starts as (

    select
        partitions_led.cluster_id,
        partitions_led.topic_id,
        partitions_led.partition_index,
        if(
            partitions_led.epochs is null,
            null,
            coalesce(
                first_segments.first_segment.start_offset,
                partitions_led.local_log_start_offset
            )
        ) as leader_log_start_offset

    from partitions_led

    left join first_segments
        on
            partitions_led.cluster_id = first_segments.cluster_id
            and partitions_led.topic_id = first_segments.topic_id
            and partitions_led.partition_index = first_segments.partition_index

)

select * from leader_log_starts
