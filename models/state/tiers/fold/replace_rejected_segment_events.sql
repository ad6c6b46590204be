{{ config(
    tags='fold_remote_log_metadata',
    unique_key=[
        'cluster_id', 'log_topic_name', 'log_partition_index', 'log_offset'
    ],
    meta={
        'into': 'history.rejected_segment_events',
        'delete_when': 's.is_gone',
        'insert_when': 'not s.is_gone'
    }
) }}

-- depends_on: {{ ref('fold_remote_segments') }}

with

parameters as (

    select * from {{ ref('stg_run__parameters') }}

),

segments_due as (

    select * from {{ ref('int_tiers__segment_events_due') }}

),

rejected_now as (

    select
        segments_due.cluster_id,
        segments_due.segment_id,
        explode(segments_due.folded.rejected) as event,
        parameters.run_id

    from segments_due

    cross join parameters

),

{# of a segment that is folded again an event may be taken now #}
rejected_before as (

    select known.*

    from {{ ref('stg_history__rejected_segment_events') }} as known

    left semi join segments_due
        on
            known.cluster_id = segments_due.cluster_id
            and known.segment_id = segments_due.segment_id
            and segments_due.is_refolded

),

rejected_segment_events as (

    select
        cluster_id,
        segment_id,
        event.log_topic_name,
        event.log_partition_index,
        event.log_offset,
        event.topic_id,
        event.topic_name,
        event.partition_index,
        event.from_state,
        event.to_state,
        event.event_at_ms,
        event.broker_id,
        event.rejection,
        run_id,
        false as is_gone

    from rejected_now

    union all

    select
        rejected_before.cluster_id,
        rejected_before.segment_id,
        rejected_before.log_topic_name,
        rejected_before.log_partition_index,
        rejected_before.log_offset,
        rejected_before.topic_id,
        rejected_before.topic_name,
        rejected_before.partition_index,
        rejected_before.from_state,
        rejected_before.to_state,
        rejected_before.event_at_ms,
        rejected_before.broker_id,
        rejected_before.rejection,
        rejected_before.run_id,
        true as is_gone

    from rejected_before

    left anti join rejected_now
        on
            rejected_before.cluster_id = rejected_now.cluster_id
            and rejected_before.log_topic_name
            = rejected_now.event.log_topic_name
            and rejected_before.log_partition_index
            = rejected_now.event.log_partition_index
            and rejected_before.log_offset = rejected_now.event.log_offset

)

select * from rejected_segment_events
