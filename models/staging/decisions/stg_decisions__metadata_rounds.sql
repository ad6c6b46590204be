with

metadata_rounds as (

    select * from {{ source('decisions', 'metadata_rounds') }}

),

renamed as (

    select
        cluster_id,
        producer_id,
        run_id,
        ruleset,
        settings_hash,
        decision,
        reason_code,
        previous_decision,
        previous_reason_code,
        changed_in_run_id,
        decided_at_ms,
        cached_topics,
        target_fetch_size,
        fetch_mode,
        urgent_topics,
        non_urgent_topics,
        fetched_topics,
        fetched_non_urgent_topics,
        evicted_topics,
        next_due_at_ms

    from metadata_rounds

)

select * from renamed
