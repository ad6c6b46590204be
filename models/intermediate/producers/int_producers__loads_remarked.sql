with

snapshot as (

    select * from {{ ref('stg_run__producer_topics') }}

),

events as (

    select * from {{ ref('stg_run__producer_events') }}

),

producers as (

    select * from {{ ref('stg_state__producers') }}

),

parameters as (

    select * from {{ ref('stg_run__parameters') }}

),

refreshed_later as (

    select
        count(*) as topics,
        min(struct(snapshot.producer_id, snapshot.topic_name)) as first_topic

    from snapshot

    cross join parameters

    where
        snapshot.last_refresh_at_ms
        > coalesce(snapshot.taken_at_ms, parameters.started_at_ms)

),

told as (

    select distinct
        cluster_id,
        producer_id

    from snapshot

    union distinct

    select distinct
        cluster_id,
        producer_id

    from events

),

of_two_clusters as (

    select
        count(distinct told.producer_id) as producers,
        min(struct(told.producer_id, producers.cluster_id)) as first_producer

    from told

    inner join producers using (producer_id)

    where told.cluster_id <> producers.cluster_id

),

loads_remarked as (

    select
        concat(
            topics,
            ' of the topics were refreshed after the snapshot was taken (',
            first_topic.topic_name,
            ' of ',
            first_topic.producer_id,
            ' is the first): a clock is ahead, and until it comes to pass '
            'they count as fresh'
        ) as remark

    from refreshed_later

    where topics > 0

    union all

    select
        concat(
            producers,
            ' of the producers have the name of one of another cluster (',
            first_producer.producer_id,
            ' is also of ',
            first_producer.cluster_id,
            '): each has rows of its own, and what moldau.yml says of the '
            'name holds for both'
        ) as remark

    from of_two_clusters

    where producers > 0

)

select * from loads_remarked
