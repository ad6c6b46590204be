with

metadata_replay_rounds as (

    select * from {{ source('run', 'metadata_replay_rounds') }}

),

renamed as (

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
        run_id

    from metadata_replay_rounds

)

select * from renamed
