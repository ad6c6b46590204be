with

offset_syncs as (

    select * from {{ source('state', 'offset_syncs') }}

),

renamed as (

    select
        flow,
        syncs_incarnation,
        sync_log_offset,
        topic_name,
        partition_index,
        upstream_offset,
        downstream_offset,
        incarnation,
        parity_incarnation,
        segment_index,
        previous_sync_log_offset,
        previous_upstream_offset,
        previous_downstream_offset,
        gap_before,
        is_admitted,
        recorded_at_ms,
        changed_in_run_id

    from offset_syncs

)

select * from renamed
