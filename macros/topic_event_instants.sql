{# Of the events of a topic the latest of each kind, and all of which an answer needs others. #}
{% macro topic_event_instants() -%}
        max(at_ms) filter (where event in ('access', 'demand')) as access_at_ms,
        max(at_ms) filter (where event = 'demand') as demand_at_ms,
        max(at_ms) filter (where event in ('demand_served', 'demand_abandoned')) as demand_ended_at_ms,
        max(at_ms) filter (where event = 'notice') as notice_at_ms,
        max(at_ms) filter (where event = 'requested') as requested_at_ms,
        max(at_ms) filter (where event = 'refreshed') as refreshed_at_ms,
        max(at_ms) filter (where event = 'topic_error') as error_at_ms,
        min(at_ms) as first_event_at_ms,
        max(at_ms) as last_event_at_ms,
        collect_list(at_ms) filter (where event = 'requested') as requests,
        collect_list(at_ms) filter (where event = 'refreshed') as refreshes
{%- endmacro %}
