{# What is known of producers, of the latest events of each kind. `parts`: relation with those columns of
   state.producers. What was before the producer was closed is over. #}
{% macro producers_known(parts) %}
producers_known as (

    select
        cluster_id,
        producer_id,
        if(requested_at_ms > coalesce(greatest(answered_at_ms, closed_event_at_ms), -1), requested_at_ms, null)
            as request_in_flight_since_ms,
        {{ after_closing('last_failure_at_ms', 'closed_event_at_ms') }} as last_failure_at_ms,
        if(closed_event_at_ms >= coalesce(greatest(last_event_at_ms, snapshot_at_ms), 0), closed_event_at_ms, null)
            as closed_at_ms,
        {{ after_closing('last_non_urgent_at_ms', 'closed_event_at_ms') }} as last_non_urgent_at_ms,
        requested_at_ms,
        answered_at_ms,
        closed_event_at_ms,
        last_event_at_ms,
        snapshot_at_ms,
        changed_in_run_id,
        is_gone

    from {{ parts }}

)
{% endmacro %}

{# An instant, null unless it is after the producer was last closed. #}
{% macro after_closing(at_ms, closed_at_ms) -%}
if({{ at_ms }} > coalesce({{ closed_at_ms }}, -1), {{ at_ms }}, null)
{%- endmacro %}
