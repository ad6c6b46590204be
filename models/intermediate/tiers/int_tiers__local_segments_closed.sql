with

local_segments as (

    select * from {{ ref('stg_state__local_segments') }}

),

upload_candidates as (

    select * from {{ ref('int_tiers__upload_candidates_decided') }}

),

exploded as (

    select
        cluster_id,
        topic_id,
        partition_index,
        broker_id,
        explode(segments) as segment

    from local_segments

),

{# a segment is closed when its successor takes its first record, and only the
   largest timestamp of that is known: with records at an even pace it is the
   span from one to the other divided by their number, exact for one record #}
followed as (

    select
        cluster_id,
        topic_id,
        partition_index,
        broker_id,
        segment.base_offset,
        segment.size_bytes,
        segment.max_timestamp_ms,
        segment.is_active,
        lead(segment) over (
            partition by
                cluster_id,
                topic_id,
                partition_index,
                broker_id
            order by segment.base_offset
        ) as successor

    from exploded

),

local_segments_closed as (

    select
        followed.cluster_id,
        followed.topic_id,
        followed.partition_index,
        followed.broker_id,
        followed.base_offset,
        followed.size_bytes,
        followed.max_timestamp_ms
        + coalesce(
            greatest(
                followed.successor.max_timestamp_ms
                - followed.max_timestamp_ms,
                0
            )
            div nullif(followed.successor.record_count, 0),
            0
        ) as closed_at_ms,
        upload_candidates.decision,
        upload_candidates.reason_code

    from followed

    left join upload_candidates
        using (cluster_id, topic_id, partition_index, broker_id, base_offset)

    {# the last segment is the active one, whatever the file says of it #}
    where
        not followed.is_active
        and followed.successor is not null

)

select * from local_segments_closed
