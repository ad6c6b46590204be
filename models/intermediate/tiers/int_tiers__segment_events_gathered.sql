with

loaded as (

    select * from {{ ref('stg_run__remote_log_records') }}

    where
        record_type in (0, 1)
        and segment_state is not null

),

all_records as (

    select * from {{ ref('stg_decoded__remote_log_records') }}

    where
        record_type in (0, 1)
        and segment_state is not null

),

stored as (

    select * from {{ ref('stg_state__remote_segments') }}

),

rejected as (

    select * from {{ ref('stg_history__rejected_segment_events') }}

),

segments_loaded as (

    select
        cluster_id,
        segment_id,
        min(log_offset) as first_log_offset,
        min(struct(log_topic_name, log_partition_index)) as first_partition,
        max(struct(log_topic_name, log_partition_index)) as last_partition

    from loaded

    group by
        cluster_id,
        segment_id

),

{# what comes before the last event that was folded, or beside one that was
   not taken, is read again from the first #}
segments_to_refold as (

    select
        segments_loaded.cluster_id,
        segments_loaded.segment_id

    from segments_loaded

    left join stored using (cluster_id, segment_id)

    left join rejected using (cluster_id, segment_id)

    where
        segments_loaded.first_log_offset <= stored.log_offset
        or segments_loaded.first_partition
        <> struct(stored.log_topic_name, stored.log_partition_index)
        or segments_loaded.last_partition
        <> struct(stored.log_topic_name, stored.log_partition_index)
        or rejected.segment_id is not null

),

events_to_fold as (

    select
        loaded.*,
        false as is_refolded

    from loaded

    left anti join segments_to_refold using (cluster_id, segment_id)

    union all

    select
        all_records.*,
        true as is_refolded

    from all_records

    left semi join segments_to_refold using (cluster_id, segment_id)

),

segment_events_gathered as (

    select
        cluster_id,
        segment_id,
        is_refolded,
        log_topic_name,
        log_partition_index,
        log_offset,
        record_type = 0 as is_full,
        segment_state,
        topic_id,
        topic_name,
        partition_index,
        start_offset,
        end_offset,
        broker_id,
        event_at_ms,
        max_timestamp_ms,
        leader_epochs,
        size_bytes,
        custom_metadata

    from events_to_fold

)

select * from segment_events_gathered
