with

producer_settings as (

    select * from {{ source('run', 'producer_settings') }}

),

renamed as (

    select
        producer_id,
        ruleset,
        evict_ms,
        max_idle_ms,
        max_age_ms,
        retry_backoff_ms,
        target_factor,
        rule_mode,
        evict_strict,
        pace_ms,
        cached_topics_budget,
        blocking_fetches_budget,
        settings_hash,
        settings,
        valid_from_ms,
        valid_to_ms,
        run_id

    from producer_settings

)

select * from renamed
