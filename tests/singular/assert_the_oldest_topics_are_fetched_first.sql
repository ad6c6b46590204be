-- No topic that is not urgent is left out for one that was refreshed later.
with

topics as (

    select * from {{ ref('stg_decisions__metadata_topics') }}

    where topic_set = 'U'

),

ends as (

    select
        cluster_id,
        producer_id,
        max(observed_refresh_at_ms) filter (where fetch_rank is not null)
            as youngest_fetched_at_ms,
        min(observed_refresh_at_ms) filter (where fetch_rank is null)
            as oldest_left_at_ms

    from topics

    group by
        cluster_id,
        producer_id

)

select * from ends

where oldest_left_at_ms < youngest_fetched_at_ms
