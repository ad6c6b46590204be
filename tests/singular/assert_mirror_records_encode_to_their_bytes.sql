-- What was read of MirrorMaker's syncs and checkpoints, written again as it
-- writes them, is the record byte for byte; text that was no UTF-8 cannot be.
with

decoded as (

    select
        cluster_id,
        log_topic_name,
        log_partition_index,
        log_offset,
        topic_name as texts,
        concat(
            unhex(lpad(hex(octet_length(encode(topic_name, 'UTF-8'))), 4, '0')),
            encode(topic_name, 'UTF-8'),
            unhex(right(lpad(hex(partition_index), 16, '0'), 8))
        ) as key_bytes,
        concat(
            unhex(lpad(hex(upstream_offset), 16, '0')),
            unhex(lpad(hex(downstream_offset), 16, '0'))
        ) as value_bytes

    from {{ ref('stg_decoded__offset_syncs') }}

    where decode_status = 'ok'

    union all

    select
        cluster_id,
        log_topic_name,
        log_partition_index,
        log_offset,
        concat(group_id, topic_name, metadata) as texts,
        concat(
            unhex(lpad(hex(octet_length(encode(group_id, 'UTF-8'))), 4, '0')),
            encode(group_id, 'UTF-8'),
            unhex(lpad(hex(octet_length(encode(topic_name, 'UTF-8'))), 4, '0')),
            encode(topic_name, 'UTF-8'),
            unhex(right(lpad(hex(partition_index), 16, '0'), 8))
        ) as key_bytes,
        concat(
            unhex(lpad(hex(value_version), 4, '0')),
            unhex(lpad(hex(upstream_offset), 16, '0')),
            unhex(lpad(hex(downstream_offset), 16, '0')),
            unhex(lpad(hex(octet_length(encode(metadata, 'UTF-8'))), 4, '0')),
            encode(metadata, 'UTF-8')
        ) as value_bytes

    from {{ ref('stg_decoded__checkpoints') }}

    where decode_status = 'ok'

)

select
    decoded.cluster_id,
    decoded.log_topic_name,
    decoded.log_partition_index,
    decoded.log_offset

from decoded

inner join {{ ref('stg_raw__records') }} as records
    on
        decoded.cluster_id = records.cluster_id
        and decoded.log_topic_name = records.topic_name
        and decoded.log_partition_index = records.partition_index
        and decoded.log_offset = records.log_offset

where
    not (
        decoded.key_bytes <=> records.record_key
        and decoded.value_bytes <=> records.record_value
    )
    and not contains(decoded.texts, '\uFFFD')
