-- What a round counts is what its topics say, each place in the request once.
with

rounds as (

    select * from {{ ref('stg_decisions__metadata_rounds') }}

),

counted as (

    select
        cluster_id,
        producer_id,
        count_if(topic_set = 'T') as urgent_topics,
        count_if(topic_set = 'U') as non_urgent_topics,
        count(distinct fetch_rank) as places,
        max(fetch_rank) as last_place,
        count_if(decision in ('evict', 'evict_and_fetch')) as evicted_topics

    from {{ ref('stg_decisions__metadata_topics') }}

    group by
        cluster_id,
        producer_id

)

select
    rounds.cluster_id,
    rounds.producer_id

from rounds

left join counted using (cluster_id, producer_id)

where
    rounds.urgent_topics <> coalesce(counted.urgent_topics, 0)
    or rounds.non_urgent_topics <> coalesce(counted.non_urgent_topics, 0)
    or rounds.fetched_topics <> coalesce(counted.places, 0)
    or rounds.fetched_topics <> coalesce(counted.last_place, 0)
    or rounds.evicted_topics <> coalesce(counted.evicted_topics, 0)
