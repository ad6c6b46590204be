-- KIP-526, read as one rule at a time: without urgent topics a request holds
-- none or the target; below the target the rest fills it up; past it there is
-- no room for the rest.
select
    cluster_id,
    producer_id,
    target_fetch_size,
    urgent_topics,
    fetched_topics

from {{ ref('stg_decisions__metadata_rounds') }}

where
    target_fetch_size < 20
    or (reason_code <> 'FETCH' and fetched_topics > 0)
    or (
        target_fetch_size is not null
        and fetch_mode = 'single'
        and reason_code = 'FETCH'
        and not case
            when urgent_topics = 0 then fetched_topics = target_fetch_size
            when urgent_topics < target_fetch_size
                then fetched_topics <= target_fetch_size
            else fetched_topics = urgent_topics
        end
    )
