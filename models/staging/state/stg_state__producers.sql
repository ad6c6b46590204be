with

producers as (

    select * from {{ source('state', 'producers') }}

),

renamed as (

    select
        cluster_id,
        producer_id,
        request_in_flight_since_ms,
        last_failure_at_ms,
        closed_at_ms,
        last_non_urgent_at_ms,
        requested_at_ms,
        answered_at_ms,
        closed_event_at_ms,
        last_event_at_ms,
        snapshot_at_ms,
        changed_in_run_id

    from producers

)

select * from renamed
