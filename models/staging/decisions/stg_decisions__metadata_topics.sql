with

metadata_topics as (

    select * from {{ source('decisions', 'metadata_topics') }}

),

renamed as (

    select
        cluster_id,
        producer_id,
        topic_name,
        run_id,
        ruleset,
        settings_hash,
        decision,
        reason_code,
        previous_decision,
        previous_reason_code,
        changed_in_run_id,
        decided_at_ms,
        topic_set,
        fetch_rank,
        observed_refresh_at_ms,
        observed_access_at_ms,
        next_due_at_ms

    from metadata_topics

)

select * from renamed
