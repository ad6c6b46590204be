with

tier_lag as (

    select * from {{ source('state', 'tier_lag') }}

),

renamed as (

    select
        cluster_id,
        topic_id,
        partition_index,
        run_id,
        ruleset,
        topic_name,
        broker_id,
        measured_at_ms,
        is_measured,
        upload_tier_lag,
        upload_tier_lag_sum,
        upload_tier_lag_issued,
        upload_lag_new_offsets,
        upload_in_flight,
        upload_blocked_by_lso,
        upload_delayed,
        upload_lag_bytes,
        upload_lag_segments,
        delete_tier_lag,
        delete_tier_lag_sum,
        delete_tier_lag_issued,
        delete_lag_bytes,
        delete_lag_segments,
        over_deleted_bytes,
        oldest_pending_upload_at_ms,
        oldest_pending_delete_at_ms

    from tier_lag

)

select * from renamed
