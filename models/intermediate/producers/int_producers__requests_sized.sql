{{ config(materialized='run_list') }}

with

topics as (

    select * from {{ ref('int_producers__topics_classified') }}

),

measured as (

    select * from {{ ref('int_producers__producers_measured') }}

),

configured as (

    select * from {{ ref('int_producers__producers_configured') }}

),

counted as (

    select
        cluster_id,
        producer_id,
        count_if(topic_set = 'T') as urgent_topics,
        count_if(topic_set = 'U') as non_urgent_topics

    from topics

    group by
        cluster_id,
        producer_id

),

sized as (

    select
        counted.cluster_id,
        counted.producer_id,
        configured.run_id,
        configured.ruleset,
        configured.settings_hash,
        measured.cached_topics,
        measured.target_fetch_size,
        measured.asks_for_all,
        counted.urgent_topics,
        counted.non_urgent_topics,
        configured.rule_mode,
        if(
            configured.held_by = 'BACKING_OFF' and measured.cuts_back_off,
            null,
            configured.held_by
        ) as held_by,
        coalesce(
            configured.decided_at_ms - configured.last_non_urgent_at_ms
            < configured.pace_ms,
            false
        ) as is_paced,
        try_add(configured.last_non_urgent_at_ms, configured.pace_ms)
            as pace_ends_at_ms,
        {# what rides along with the urgent ones #}
        if(
            counted.urgent_topics > 0,
            greatest(measured.target_fetch_size - counted.urgent_topics, 0),
            0
        ) as room

    from counted

    inner join measured using (cluster_id, producer_id)

    inner join configured
        on
            counted.cluster_id = configured.cluster_id
            and counted.producer_id = configured.producer_id

),

batches as (

    select
        *,
        {# topics that may make a batch of their own: the second rule #}
        case rule_mode
            when 'single' then if(urgent_topics = 0, non_urgent_topics, 0)
            when 'independent' then non_urgent_topics
            when 'sequential'
                then non_urgent_topics - least(room, non_urgent_topics)
        end as left_over

    from sized

),

requests_sized as (

    select
        cluster_id,
        producer_id,
        run_id,
        ruleset,
        settings_hash,
        cached_topics,
        target_fetch_size,
        urgent_topics,
        non_urgent_topics,
        room,
        case
            when asks_for_all then non_urgent_topics
            when is_paced or target_fetch_size is null then 0
            when left_over < target_fetch_size then room
            when rule_mode = 'independent' then target_fetch_size
            else room + target_fetch_size
        end as non_urgent_limit,
        held_by,
        is_paced,
        if(is_paced and non_urgent_topics > 0, pace_ends_at_ms, null)
            as pace_ends_at_ms

    from batches

)

select * from requests_sized
