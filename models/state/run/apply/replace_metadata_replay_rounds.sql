{{ config(
    meta={'into': 'state.metadata_replay_rounds', 'write': 'replace'}
) }}

with

replayed as (

    select * from {{ ref('stg_run__metadata_replay_rounds') }}

),

of_all_clusters as (

    select * from {{ ref('stg_state__metadata_replay_rounds') }}

),

parameters as (

    select * from {{ ref('stg_run__parameters') }}

),

of_others as (

    select of_all_clusters.*

    from of_all_clusters

    cross join parameters

    where
        not array_contains(
            parameters.cluster_ids, of_all_clusters.cluster_id
        )

),

replaced as (

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

    from replayed

    union all

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

    from of_others

)

select * from replaced
