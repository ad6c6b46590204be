{{ config(materialized='run_list') }}

with

partition_states as (

    select * from {{ ref('stg_state__partition_states') }}

    where
        is_leader
        and topic_id is not null

),

leader_epochs as (

    select * from {{ ref('stg_state__leader_epochs') }}

),

{# two brokers may both have called themselves leader #}
leaders_chosen as (

    select
        *,
        {{ leader_place('topic_id') }} as leader_place

    from partition_states

),

partitions_led as (

    select
        leaders_chosen.cluster_id,
        leaders_chosen.topic_id,
        leaders_chosen.topic_name,
        leaders_chosen.partition_index,
        leaders_chosen.broker_id,
        leaders_chosen.leader_epoch,
        nullif(leaders_chosen.log_start_offset, -1) as log_start_offset,
        nullif(leaders_chosen.local_log_start_offset, -1)
            as local_log_start_offset,
        leaders_chosen.last_stable_offset,
        leaders_chosen.high_watermark,
        leaders_chosen.log_end_offset,
        leaders_chosen.taken_at_ms,
        leader_epochs.epochs,
        {{ epochs_with_records('leader_epochs.epochs') }} as lineage,
        leader_epochs.epochs is not null
        and leaders_chosen.log_end_offset is not null as has_lineage

    from leaders_chosen

    left join leader_epochs using (cluster_id, topic_id, partition_index)

    where leaders_chosen.leader_place = 1

)

select * from partitions_led
