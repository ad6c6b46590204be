with

{# what cannot be decoded Kafka does not load either #}
share_group_records as (

    select *

    from {{ ref('stg_decoded__share_group_records') }}

    where
        record_type in (0, 1)
        and decode_status in ('ok', 'ok_trailing', 'tombstone')

),

{# a key lies in one partition of the log, so offsets order its records #}
snapshots as (

    select
        cluster_id,
        group_id,
        topic_id,
        partition_index,
        max(log_offset) as snapshot_log_offset

    from share_group_records

    where record_type = 0

    group by
        cluster_id,
        group_id,
        topic_id,
        partition_index

),

{# an update goes on from the snapshot before it; one that is told alone still says where
   the group stands #}
records_in_force as (

    select records.*

    from share_group_records as records

    left join snapshots
        using (cluster_id, group_id, topic_id, partition_index)

    where
        snapshots.snapshot_log_offset is null
        or records.log_offset >= snapshots.snapshot_log_offset

),

{# ShareCoordinatorShard.merge: an update keeps the start offset where it says -1, and always
   tells the count anew #}
share_partitions as (

    select
        cluster_id,
        group_id,
        topic_id,
        partition_index,
        max_by(
            if(start_offset >= 0, start_offset, null),
            if(record_type = 0 or start_offset >= 0, log_offset, null)
        ) as start_offset,
        max_by(
            if(delivery_complete_count >= 0, delivery_complete_count, null), log_offset
        ) as delivery_complete_count,
        max(recorded_at_ms) as recorded_at_ms

    from records_in_force

    group by
        cluster_id,
        group_id,
        topic_id,
        partition_index

    having not max_by(is_tombstone, log_offset)

)

select * from share_partitions
