with

producers as (

    select * from {{ ref('stg_state__producers') }}

),

producer_settings as (

    select * from {{ ref('stg_state__producer_settings') }}

),

rule_sets as (

    select * from {{ ref('rule_sets') }}

    where domain = 'producers'

),

producers_named as (

    select
        producers.cluster_id,
        producers.producer_id,
        coalesce(producer_settings.producer_id, 'default') as settings_id

    from producers

    left join producer_settings using (producer_id)

),

producers_set as (

    select
        producers_named.cluster_id,
        producers_named.producer_id,
        rule_sets.ruleset,
        rule_sets.topics_requested,
        if(
            rule_sets.reads_max_idle,
            coalesce(producer_settings.max_idle_ms, producer_settings.evict_ms),
            producer_settings.evict_ms
        ) as idle_limit_ms,
        {# what Kafka takes of metadata.max.idle.ms, and the draft of metadata.evict.ms #}
        if(rule_sets.reads_max_idle, 5000L, 1000L) as least_limit_ms,
        if(
            coalesce(producer_settings.evict_strict, rule_sets.evict_strict),
            1,
            0
        ) as strict_ms,
        producer_settings.max_age_ms,
        {# the draft refreshes at half an age #}
        if(
            rule_sets.topics_requested = 'subset',
            producer_settings.max_age_ms - producer_settings.max_age_ms div 2,
            producer_settings.max_age_ms
        ) as cycle_ms,
        producer_settings.cached_topics_budget,
        producer_settings.blocking_fetches_budget

    from producers_named

    inner join producer_settings
        on producers_named.settings_id = producer_settings.producer_id

    inner join rule_sets
        on producer_settings.ruleset = rule_sets.ruleset

),

{# what is forgotten sooner is never refreshed, or no target times ten is reached #}
settings_in_force as (

    select
        *,
        greatest(least_limit_ms, cycle_ms, 10000L) as sound_limit_ms

    from producers_set

)

select * from settings_in_force
