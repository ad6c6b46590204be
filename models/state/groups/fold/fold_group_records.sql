{{ config(
    tags='fold_consumer_offsets',
    unique_key=[
        'cluster_id', 'group_id', 'record_type', 'member_id',
        'regular_expression'
    ],
    meta={'into': 'state.group_records', 'matched_condition': 's.log_offset > t.log_offset'}
) }}

with

records as (

    select * from {{ ref('stg_run__records') }}

    where group_id is not null and record_type between 2 and 23

),

latest_by_key as (

    select
        cluster_id,
        group_id,
        record_type,
        coalesce(member_id, '') as member_id,
        coalesce(regular_expression, '') as regular_expression,
        max_by(
            struct(
                partition_index,
                log_offset,
                recorded_at_ms,
                is_tombstone,
                decode_status in ('ok', 'ok_trailing', 'tombstone')
                    as is_readable,
                epoch,
                member_state,
                protocol_type,
                state_at_ms,
                member_count,
                subscribed_topics,
                validated_topology_epoch,
                stored_description_topology_epoch,
                failed_description_topology_epoch
            ),
            log_offset
        ) as latest

    from records

    group by
        cluster_id,
        group_id,
        record_type,
        coalesce(member_id, ''),
        coalesce(regular_expression, '')

),

group_records as (

    select
        cluster_id,
        group_id,
        record_type,
        member_id,
        regular_expression,
        latest.partition_index,
        latest.log_offset,
        latest.recorded_at_ms,
        latest.is_tombstone,
        latest.is_readable,
        latest.epoch,
        latest.member_state,
        latest.protocol_type,
        latest.state_at_ms,
        latest.member_count,
        latest.subscribed_topics,
        latest.validated_topology_epoch,
        latest.stored_description_topology_epoch,
        latest.failed_description_topology_epoch

    from latest_by_key

)

select * from group_records
