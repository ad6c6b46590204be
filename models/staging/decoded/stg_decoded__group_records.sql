with

group_records as (

    select * from {{ source('decoded', 'group_records') }}

),

renamed as (

    select
        cluster_id,
        partition_index,
        log_offset,
        recorded_at_ms,
        run_id,
        record_type,
        record_name,
        value_version,
        decode_status,
        is_tombstone,
        group_id,
        member_id,
        regular_expression,
        committed_topic_name,
        committed_partition_index,
        committed_offset,
        leader_epoch,
        metadata,
        commit_at_ms,
        expire_at_ms,
        topic_id,
        epoch,
        previous_member_epoch,
        member_state,
        protocol_type,
        protocol,
        leader,
        state_at_ms,
        member_count,
        subscribed_topics,
        subscribed_topic_regex,
        validated_topology_epoch,
        stored_description_topology_epoch,
        failed_description_topology_epoch,
        topology_epoch,
        instance_id,
        rack_id,
        client_id,
        client_host,
        process_id

    from group_records

)

select * from renamed
