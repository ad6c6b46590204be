with

topics as (

    select * from {{ ref('int_producers__topics_aged') }}

),

producers as (

    select * from {{ ref('int_producers__producers_configured') }}

),

counted as (

    select
        cluster_id,
        producer_id,
        count_if(is_cached) as cached_topics,
        bool_or(is_waiting) as has_waiting,
        bool_or(is_waiting and is_in_error) as has_waiting_in_error,
        bool_or(is_notified) as has_notified,
        bool_or(is_stale) as has_stale

    from topics

    group by
        cluster_id,
        producer_id

),

joined_to_settings as (

    select
        counted.*,
        producers.topics_requested,
        producers.target_factor,
        producers.evict_ms div 1000 as evict_seconds

    from counted

    inner join producers using (cluster_id, producer_id)

),

rates as (

    select
        *,
        cached_topics div evict_seconds as topics_per_second

    from joined_to_settings

),

producers_measured as (

    select
        cluster_id,
        producer_id,
        cached_topics,
        {# whole numbers at each step, as Java divides longs #}
        case
            when topics_requested <> 'subset' then cast(null as bigint)
            when target_factor = '*10' then greatest(topics_per_second * 10, 20)
            else greatest(topics_per_second div 10, 20)
        end as target_fetch_size,
        {# one clock for the whole cache: its oldest topic #}
        topics_requested <> 'subset' and has_stale as is_stale_as_a_whole,
        case topics_requested
            when 'new_or_all'
                then has_notified or has_stale or has_waiting_in_error
            when 'all' then has_notified or has_stale or has_waiting
            else false
        end as asks_for_all

    from rates

)

select * from producers_measured
