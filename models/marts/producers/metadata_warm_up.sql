with

gaps as (

    select * from {{ ref('int_producers__access_gaps') }}

),

settings as (

    select * from {{ ref('int_producers__settings_in_force') }}

),

producer_topics as (

    select * from {{ ref('stg_state__producer_topics') }}

),

parameters as (

    select at_ms from {{ ref('stg_run__parameters') }}

),

rhythms as (

    select
        gaps.cluster_id,
        gaps.producer_id,
        gaps.topic_name,
        max(gaps.at_ms) as last_access_at_ms,
        count(gaps.gap_ms) as gaps_seen,
        count_if(gaps.gap_ms - settings.strict_ms >= settings.idle_limit_ms)
            as misses_seen,
        percentile_approx(gaps.gap_ms, 0.5) as usual_gap_ms,
        settings.idle_limit_ms as evict_ms,
        settings.strict_ms

    from gaps

    inner join settings using (cluster_id, producer_id)

    group by
        gaps.cluster_id,
        gaps.producer_id,
        gaps.topic_name,
        settings.idle_limit_ms,
        settings.strict_ms

),

{# what is used now and then, and is forgotten in between #}
expected as (

    select
        rhythms.*,
        rhythms.last_access_at_ms + rhythms.usual_gap_ms as expected_at_ms

    from rhythms

    where
        rhythms.gaps_seen >= 2
        and rhythms.usual_gap_ms - rhythms.strict_ms >= rhythms.evict_ms

),

metadata_warm_up as (

    select
        expected.cluster_id,
        expected.producer_id,
        expected.topic_name,
        expected.expected_at_ms,
        {{ instant('expected.expected_at_ms') }} as expected_at,
        expected.expected_at_ms - parameters.at_ms as due_in_ms,
        expected.usual_gap_ms,
        expected.gaps_seen,
        expected.misses_seen,
        expected.last_access_at_ms,
        expected.evict_ms,
        coalesce(producer_topics.last_refresh_at_ms is not null, false)
            as is_cached

    from expected

    cross join parameters

    left join producer_topics using (cluster_id, producer_id, topic_name)

)

select * from metadata_warm_up
