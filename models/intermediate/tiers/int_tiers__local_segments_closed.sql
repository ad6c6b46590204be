with

local_segments as (

    select * from {{ ref('int_tiers__local_segments_followed') }}

    where not is_active

),

upload_candidates as (

    select * from {{ ref('int_tiers__upload_candidates_decided') }}

),

{# a segment is closed when its successor takes its first record, and only the
   largest timestamp of that is known: with records at an even pace it is the
   span from one to the other divided by their number, exact for one record #}
local_segments_closed as (

    select
        cluster_id,
        topic_id,
        partition_index,
        broker_id,
        base_offset,
        local_segments.size_bytes,
        local_segments.max_timestamp_ms
        + coalesce(
            greatest(
                local_segments.next_max_timestamp_ms - local_segments.max_timestamp_ms, 0
            )
            div nullif(local_segments.next_record_count, 0),
            0
        ) as closed_at_ms,
        upload_candidates.decision,
        upload_candidates.reason_code

    from local_segments

    left join upload_candidates
        using (cluster_id, topic_id, partition_index, broker_id, base_offset)

)

select * from local_segments_closed
