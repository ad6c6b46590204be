with

segments as (

    select * from {{ ref('int_tiers__segments_in_scope') }}

    where finished_log_offset is not null

),

epochs_indexed as (

    select
        cluster_id,
        segment_id,
        topic_id,
        partition_index,
        segment_state,
        finished_log_offset,
        delete_started_log_offset,
        explode({{ offsets_by_epoch('segments') }}) as epoch

    from segments

),

{# only where two segments begin at one offset can one take the other's place #}
keys_shared as (

    select
        cluster_id,
        topic_id,
        partition_index,
        epoch.leader_epoch,
        min(epoch.start_offset) as first_start_offset

    from epochs_indexed

    group by
        cluster_id,
        topic_id,
        partition_index,
        epoch.leader_epoch

    having count(*) > count(distinct epoch.start_offset)

),

ranges_known as (

    select
        epochs_indexed.*,
        max(epochs_indexed.epoch.last_offset) over (
            partition by
                epochs_indexed.cluster_id,
                epochs_indexed.topic_id,
                epochs_indexed.partition_index,
                epochs_indexed.epoch.leader_epoch
            order by epochs_indexed.finished_log_offset asc
            rows between unbounded preceding and 1 preceding
        ) as highest_before

    from epochs_indexed

    left semi join keys_shared
        on
            epochs_indexed.cluster_id = keys_shared.cluster_id
            and epochs_indexed.topic_id = keys_shared.topic_id
            and epochs_indexed.partition_index = keys_shared.partition_index
            and epochs_indexed.epoch.leader_epoch = keys_shared.leader_epoch

),

segments_indexed as (

    select
        *,
        count(*) over (
            partition by
                cluster_id,
                topic_id,
                partition_index,
                epoch.leader_epoch,
                epoch.start_offset
        ) as segments_at_key,
        epoch.leader_epoch

    from ranges_known

)

select * from segments_indexed
