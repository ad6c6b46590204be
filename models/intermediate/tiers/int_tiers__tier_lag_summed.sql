with

partitions_due as (

    select distinct
        cluster_id,
        topic_id,
        partition_index

    from {{ ref('int_tiers__partitions_due') }}

),

clusters as (

    select * from {{ ref('int_tiers__clusters_configured') }}

),

partitions_led as (

    select * from {{ ref('int_tiers__partitions_led') }}

),

topics as (

    select * from {{ ref('int_tiers__topics_configured') }}

),

{# only the leader counts #}
local_segments as (

    select * from {{ ref('int_tiers__upload_candidates_reasoned') }}

    where
        is_leader
        and is_walked

),

remote_segments as (

    select * from {{ ref('int_tiers__delete_candidates_reasoned') }}

),

in_flight as (

    select
        cluster_id,
        topic_id,
        partition_index,
        {{ long_sum('end_offset + 1 - start_offset') }} as upload_in_flight

    from {{ ref('int_tiers__copies_in_flight') }}

    group by
        cluster_id,
        topic_id,
        partition_index

),

uploads as (

    select
        cluster_id,
        topic_id,
        partition_index,
        coalesce(
            max(next_base_offset) filter (where decision = 'upload')
            - min(base_offset) filter (where decision = 'upload'),
            0
        ) as upload_tier_lag,
        {{ offsets_because('ELIGIBLE') }} as upload_tier_lag_sum,
        coalesce(
            sum(next_base_offset - base_offset) filter (
                where decision = 'upload' and not is_in_flight
            ),
            0
        ) as upload_tier_lag_issued,
        coalesce(
            max(next_base_offset) filter (where decision = 'upload')
            - greatest(
                min(base_offset) filter (where decision = 'upload'),
                min(from_offset)
            ),
            0
        ) as upload_lag_new_offsets,
        {{ offsets_because('ABOVE_LAST_STABLE_OFFSET') }}
            as upload_blocked_by_lso,
        {{ offsets_because('DELAYED') }} as upload_delayed,
        coalesce(sum(size_bytes) filter (where decision = 'upload'), 0)
            as upload_lag_bytes,
        count_if(decision = 'upload') as upload_lag_segments,
        min_by(nullif(max_timestamp_ms, -1), base_offset) filter (
            where decision = 'upload'
        ) as oldest_pending_upload_at_ms

    from local_segments

    group by
        cluster_id,
        topic_id,
        partition_index

),

{# in the order of the walk, what lies beside it last #}
first_chosen as (

    select
        *,
        row_number() over (
            partition by cluster_id, topic_id, partition_index
            order by
                decision asc,
                walk_position asc nulls last,
                start_offset asc,
                segment_id asc
        ) as choice

    from remote_segments

),

deletes as (

    select
        cluster_id,
        topic_id,
        partition_index,
        max(topic_name) as topic_name,
        coalesce(
            max(end_offset + 1) filter (where is_in_walk)
            - min_by(start_offset, walk_position) filter (where is_in_walk),
            0
        ) as delete_tier_lag,
        coalesce(
            {{ long_sum('end_offset + 1 - start_offset', "decision = 'delete'") }},
            0
        ) as delete_tier_lag_sum,
        coalesce(
            {{ long_sum(
                'end_offset + 1 - start_offset',
                "decision = 'delete' and segment_state <> 'DELETE_SEGMENT_STARTED'"
            ) }},
            0
        ) as delete_tier_lag_issued,
        coalesce(sum(size_bytes) filter (where decision = 'delete'), 0)
            as delete_lag_bytes,
        count_if(decision = 'delete') as delete_lag_segments,
        coalesce(sum(size_bytes) filter (where is_over_deleted), 0)
            as over_deleted_bytes,
        coalesce(
            min(delete_started_at_ms) filter (where decision = 'delete'),
            min(nullif(max_timestamp_ms, -1)) filter (
                where decision = 'delete' and choice = 1
            )
        ) as oldest_pending_delete_at_ms,
        bool_and(reason_code = 'NO_SNAPSHOT' or decision = 'delete')
        and bool_or(reason_code = 'NO_SNAPSHOT') as is_without_snapshot,
        bool_or(reason_code = 'TOPIC_DELETED') as is_topic_deleted

    from first_chosen

    group by
        cluster_id,
        topic_id,
        partition_index

),

tier_lag_summed as (

    select
        due.cluster_id,
        due.topic_id,
        due.partition_index,
        clusters.run_id,
        clusters.ruleset,
        coalesce(partitions_led.topic_name, deletes.topic_name) as topic_name,
        partitions_led.broker_id,
        clusters.decided_at_ms as measured_at_ms,
        coalesce(
            topics.is_tiered and partitions_led.broker_id is not null, false
        )
        or coalesce(deletes.delete_lag_segments > 0, false)
        or coalesce(deletes.is_without_snapshot, false) as is_measured,
        uploads.upload_tier_lag,
        uploads.upload_tier_lag_sum,
        uploads.upload_tier_lag_issued,
        uploads.upload_lag_new_offsets,
        if(
            partitions_led.broker_id is null,
            null,
            coalesce(in_flight.upload_in_flight, 0)
        ) as upload_in_flight,
        uploads.upload_blocked_by_lso,
        uploads.upload_delayed,
        uploads.upload_lag_bytes,
        uploads.upload_lag_segments,
        if(
            not coalesce(topics.is_tiered, true)
            or (
                not coalesce(partitions_led.has_lineage, false)
                and not coalesce(deletes.is_topic_deleted, false)
            ),
            null,
            coalesce(deletes.delete_tier_lag, 0)
        ) as delete_tier_lag,
        {{ zero_or_unknown('deletes', 'delete_tier_lag_sum') }}
            as delete_tier_lag_sum,
        {{ zero_or_unknown('deletes', 'delete_tier_lag_issued') }}
            as delete_tier_lag_issued,
        {{ zero_or_unknown('deletes', 'delete_lag_bytes') }}
            as delete_lag_bytes,
        {{ zero_or_unknown('deletes', 'delete_lag_segments') }}
            as delete_lag_segments,
        {{ zero_or_unknown('deletes', 'over_deleted_bytes') }}
            as over_deleted_bytes,
        uploads.oldest_pending_upload_at_ms,
        deletes.oldest_pending_delete_at_ms

    from partitions_due as due

    inner join clusters using (cluster_id)

    left join partitions_led using (cluster_id, topic_id, partition_index)

    left join topics using (cluster_id, topic_id)

    left join uploads using (cluster_id, topic_id, partition_index)

    left join deletes using (cluster_id, topic_id, partition_index)

    left join in_flight using (cluster_id, topic_id, partition_index)

)

select * from tier_lag_summed
