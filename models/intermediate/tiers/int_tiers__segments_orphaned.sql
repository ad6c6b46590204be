with

remote_segments as (

    select * from {{ ref('stg_state__remote_segments') }}

    where segment_state = 'COPY_SEGMENT_FINISHED'

),

unreachable as (

    select * from {{ ref('stg_decisions__delete_candidates') }}

    where
        reason_code = 'OUTSIDE_LINEAGE'
        and walk_position is null

),

overwritten as (

    select
        cluster_id,
        segment_id,
        max_by(next_segment_id, replaced_at_ms) as other_segment_id,
        max(replaced_at_ms) as since_at_ms

    from {{ ref('int_tiers__segment_epochs') }}

    where
        segment_state = 'COPY_SEGMENT_FINISHED'
        and listing = 'none'

    group by
        cluster_id,
        segment_id

),

segments_orphaned as (

    select
        remote_segments.cluster_id,
        remote_segments.segment_id,
        overwritten.other_segment_id,
        overwritten.since_at_ms

    from remote_segments

    left semi join unreachable using (cluster_id, segment_id)

    left join overwritten using (cluster_id, segment_id)

)

select * from segments_orphaned
