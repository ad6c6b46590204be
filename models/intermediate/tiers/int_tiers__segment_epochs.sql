{{ config(materialized='run_list') }}

with

segments as (

    select * from {{ ref('stg_state__remote_segments') }}

),

{{ epochs_superseded('segments') }},

epochs_exploded as (

    select
        *,
        inline({{ offsets_by_epoch('segments') }})
            as (leader_epoch, first_offset, last_offset)

    from segments

),

segment_epochs as (

    select
        epochs_exploded.cluster_id,
        epochs_exploded.segment_id,
        epochs_exploded.leader_epoch,
        epochs_exploded.topic_id,
        epochs_exploded.topic_name,
        epochs_exploded.partition_index,
        epochs_exploded.first_offset,
        epochs_exploded.last_offset,
        epochs_exploded.start_offset,
        epochs_exploded.segment_state,
        epochs_exploded.finished_log_offset is not null as is_finished,
        case
            when epochs_exploded.segment_state = 'DELETE_SEGMENT_FINISHED'
                then 'none'
            when epochs_exploded.segment_state <> 'COPY_SEGMENT_FINISHED'
                then 'unreferenced'
            when superseded.is_orphaned then 'none'
            when superseded.segment_id is not null then 'unreferenced'
            else 'indexed'
        end as listing,
        superseded.next_segment_id,
        superseded.replaced_at_ms

    from epochs_exploded

    left join epochs_superseded as superseded using (cluster_id, segment_id, leader_epoch)

)

select * from segment_epochs
