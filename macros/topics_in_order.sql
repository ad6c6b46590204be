{# CTEs that end in `topics_ordered`: the topics that have had a name, by what `sights` has of their ids: first_seen_at_ms,
   last_seen_at_ms and first_committed_at_ms. A late commit of a topic that is gone does not tell when it went; and since no
   id returns, one that commits alone show before a later snapshot of another is older than that. #}
{% macro topics_in_order(sights) -%}
topics_dated as (

    select
        cluster_id,
        topic_name,
        topic_id,
        first_seen_at_ms is null as is_of_commits_alone,
        least(first_seen_at_ms, first_committed_at_ms) as known_since_ms,
        coalesce(last_seen_at_ms, first_committed_at_ms) as known_until_ms,
        last_seen_at_ms

    from {{ sights }}

),

topics_compared as (

    select
        *,
        is_of_commits_alone
        and coalesce(max(last_seen_at_ms) over before > known_since_ms, false) as is_older

    from topics_dated

    window before as (
        partition by cluster_id, topic_name
        order by known_since_ms, topic_id
        rows between unbounded preceding and 1 preceding
    )

),

topics_ordered as (

    select
        cluster_id,
        topic_name,
        topic_id,
        known_since_ms,
        known_until_ms,
        if(is_older, 0, row_number() over in_order) as topic_number,
        lag(known_since_ms) over in_order as previous_known_since_ms,
        lag(known_until_ms) over in_order as previous_known_until_ms

    from topics_compared

    window in_order as (
        partition by cluster_id, topic_name, is_older
        order by known_since_ms, topic_id
    )

)
{%- endmacro %}
