with

group_records as (

    select * from {{ source('state', 'group_records') }}

),

renamed as (

    select
        cluster_id,
        group_id,
        record_type,
        member_id,
        regular_expression,
        partition_index,
        log_offset,
        recorded_at_ms,
        is_tombstone,
        is_readable,
        epoch,
        member_state,
        protocol_type,
        state_at_ms,
        member_count,
        subscribed_topics,
        validated_topology_epoch,
        stored_description_topology_epoch,
        failed_description_topology_epoch

    from group_records

)

select * from renamed
