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

uploads as (

    select * from {{ ref('int_tiers__uploads_summed') }}

),

deletes as (

    select * from {{ ref('int_tiers__deletes_summed') }}

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
