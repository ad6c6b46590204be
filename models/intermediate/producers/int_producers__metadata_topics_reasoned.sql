{{ config(materialized='run_list') }}

with

topics as (

    select * from {{ ref('int_producers__topics_classified') }}

),

sized as (

    select * from {{ ref('int_producers__requests_sized') }}

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
        sized.run_id,
        sized.ruleset,
        sized.settings_hash,
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
        cluster_id,
        producer_id,
        topic_name,
        run_id,
        ruleset,
        settings_hash,
        decision,
        case
            when decision = 'evict' then 'IDLE'
            when is_planned and not is_sent then held_by
            when topic_set = 'T' and is_asked then coalesce(clause, 'NEW')
            when topic_set = 'U' and is_asked
                then if(
                    place <= urgent_topics + room or target_fetch_size is null,
                    'FILL',
                    'OLDEST'
                )
            when topic_set = 'U' and is_paced then 'PACED'
            when
                topic_set = 'U'
                and urgent_topics = 0
                and non_urgent_topics < target_fetch_size
                then 'NOT_DUE'
            when topic_set = 'U' then 'OVER_TARGET'
            when is_cached then 'FRESH'
            else 'UNWANTED'
        end as reason_code,
        decided_at_ms,
        topic_set,
        if(is_asked, place, null) as fetch_rank,
        last_refresh_at_ms as observed_refresh_at_ms,
        if(is_evicted, last_access_at_ms, null) as observed_access_at_ms,
        next_due_at_ms

    from decided

)

select * from metadata_topics_reasoned
