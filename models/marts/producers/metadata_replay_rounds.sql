with

replayed as (

    select * from {{ ref('stg_state__metadata_replay_rounds') }}

),

metadata_replay_rounds as (

    select
        cluster_id,
        producer_id,
        ruleset,
        round_at_ms,
        cached_topics,
        target_fetch_size,
        urgent_topics,
        non_urgent_topics,
        fetched_topics,
        evicted_topics,
        fetched_topic_names,
        evicted_topic_names,
        run_id,
        timestamp_millis(round_at_ms) as round_at

    from replayed

)

select * from metadata_replay_rounds
