with

segments_shown as (

    select * from {{ ref('int_tiers__delete_segments_shown') }}

),

delete_candidates as (

    select * from {{ ref('int_tiers__delete_candidates_decided') }}

),

{# what an idle run has written over is past; each partition keeps a row #}
segments_kept as (

    select
        *,
        is_of_run and shown <> 'idle' as is_of_run_shown

    from segments_shown

    where
        is_live
        or (is_of_run and shown <> 'idle')
        or is_for_partition

),

delete_segments_gathered as (

    select
        segments_kept.cluster_id,
        segments_kept.topic_id,
        segments_kept.partition_index,
        segments_kept.segment_id,
        segments_kept.broker_id,
        segments_kept.topic_name,
        segments_kept.shown,
        segments_kept.segments_live,
        segments_kept.earliest_offset,
        segments_kept.end_offset,
        segments_kept.size_bytes,
        segments_kept.delete_started_log_offset,
        segments_kept.is_live,
        segments_kept.is_of_run_shown as is_of_run,
        if(segments_kept.is_of_run_shown, segments_kept.times_deleted, 0)
            as times_deleted,
        segments_kept.is_retried,
        greatest(size(segments_kept.leader_epochs), 0) as epochs,
        greatest(
            size(
                filter(
                    segments_kept.leader_epochs,
                    entry
                    -> entry.leader_epoch < segments_kept.earliest_epoch
                )
            ),
            0
        ) as earlier_epochs,
        greatest(
            size(
                filter(
                    segments_kept.leader_epochs,
                    entry -> array_contains(
                        segments_kept.lineage_epochs, entry.leader_epoch
                    )
                )
            ),
            0
        ) as lineage_epochs,
        coalesce(delete_candidates.decision = 'delete', false) as is_chosen,
        delete_candidates.reason_code,
        coalesce(
            delete_candidates.walk_position
            <= coalesce(
                min(
                    if(
                        {{ stops_walk('delete_candidates.reason_code') }},
                        delete_candidates.walk_position,
                        null
                    )
                ) over (
                    partition by
                        segments_kept.cluster_id,
                        segments_kept.topic_id,
                        segments_kept.partition_index
                ),
                delete_candidates.walk_position
            ),
            false
        ) as is_walked

    from segments_kept

    left join delete_candidates using (cluster_id, segment_id)

)

select * from delete_segments_gathered
