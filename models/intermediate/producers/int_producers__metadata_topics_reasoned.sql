{{ config(materialized='run_list') }}

with

topics as (

    select * from {{ ref('int_producers__topics_classified') }}

),

sized as (

    select * from {{ ref('int_producers__requests_sized') }}

),

producers as (

    select * from {{ ref('int_producers__producers_configured') }}

),

in_a_set as (

    select
        *,
        row_number() over (
            partition by cluster_id, producer_id
            order by
                topic_set,
                if(topic_set = 'U', last_refresh_at_ms, null),
                topic_name
        ) as place

    from topics

    where topic_set is not null

),

in_no_set as (

    select
        *,
        cast(null as bigint) as place

    from topics

    where topic_set is null

),

placed as (

    select * from in_a_set

    union all

    select * from in_no_set

),

planned as (

    select
        placed.*,
        sized.target_fetch_size,
        sized.urgent_topics,
        sized.non_urgent_topics,
        sized.room,
        sized.is_paced,
        sized.held_by,
        sized.urgent_topics + sized.non_urgent_limit > 0
        and sized.held_by is null as is_sent,
        coalesce(
            placed.place <= sized.urgent_topics + sized.non_urgent_limit, false
        ) as is_planned

    from placed

    inner join sized using (cluster_id, producer_id)

),

asked_for as (

    select
        *,
        is_planned and is_sent as is_asked,
        {# else an answer forgets what is idle, cached or told of by it #}
        is_forgotten or (
            is_forgettable
            and is_sent
            and target_fetch_size is null
            and (is_cached or is_planned)
        ) as is_evicted

    from planned

),

decided as (

    select
        *,
        case
            when is_evicted and is_asked and has_demand
                then 'evict_and_fetch'
            when is_evicted then 'evict'
            when is_asked then 'fetch'
            else 'keep'
        end as decision

    from asked_for

),

metadata_topics_reasoned as (

    select
        decided.cluster_id,
        decided.producer_id,
        decided.topic_name,
        producers.run_id,
        producers.ruleset,
        producers.settings_hash,
        decided.decision,
        case
            when decided.decision = 'evict' then 'IDLE'
            when decided.is_planned and not decided.is_sent
                then decided.held_by
            when decided.topic_set = 'T' and decided.is_asked
                then coalesce(decided.clause, 'NEW')
            when decided.topic_set = 'U' and decided.is_asked
                then if(
                    decided.place <= decided.urgent_topics + decided.room
                    or decided.target_fetch_size is null,
                    'FILL',
                    'OLDEST'
                )
            when decided.topic_set = 'U' and decided.is_paced then 'PACED'
            when
                decided.topic_set = 'U'
                and decided.urgent_topics = 0
                and decided.non_urgent_topics < decided.target_fetch_size
                then 'NOT_DUE'
            when decided.topic_set = 'U' then 'OVER_TARGET'
            when decided.is_cached then 'FRESH'
            else 'UNWANTED'
        end as reason_code,
        producers.decided_at_ms,
        decided.topic_set,
        if(decided.is_asked, decided.place, null) as fetch_rank,
        decided.last_refresh_at_ms as observed_refresh_at_ms,
        if(decided.is_evicted, decided.last_access_at_ms, null)
            as observed_access_at_ms,
        decided.next_due_at_ms

    from decided

    inner join producers using (cluster_id, producer_id)

)

select * from metadata_topics_reasoned
