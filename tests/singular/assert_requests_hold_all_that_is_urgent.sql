-- KIP-526: a request holds all urgent topics, and no topic that is in no set.
-- A round that sends none asks for nothing.
with

topics as (

    select * from {{ ref('stg_decisions__metadata_topics') }}

),

rounds as (

    select * from {{ ref('stg_decisions__metadata_rounds') }}

)

select
    topics.cluster_id,
    topics.producer_id,
    topics.topic_name,
    topics.topic_set,
    topics.fetch_rank,
    rounds.reason_code

from topics

left join rounds using (cluster_id, producer_id)

where
    rounds.producer_id is null
    or (topics.fetch_rank is not null and topics.topic_set is null)
    or (topics.topic_set = 'T' and topics.fetch_rank is null and rounds.reason_code = 'FETCH')
    or (topics.fetch_rank is not null and rounds.reason_code <> 'FETCH')
