with

partition_states as (

    select * from {{ source('run', 'partition_states') }}

),

renamed as (

    select
        cluster_id,
        topic_name,
        partition_index,
        broker_id,
        {{ told_topic_id() }} as topic_id,
        leader_epoch,
        log_start_offset,
        local_log_start_offset,
        last_stable_offset,
        high_watermark,
        log_end_offset,
        latest_tiered_offset,
        is_leader,
        taken_at_ms,
        run_id

    from partition_states

)

select * from renamed
