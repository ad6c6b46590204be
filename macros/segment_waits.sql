{# Since when a copy or a delete of a segment has been in progress. #}
{% macro waits_since_ms(segment) -%}
if({{ segment }}.segment_state = 'COPY_SEGMENT_STARTED', {{ segment }}.copy_started_at_ms, {{ segment }}.delete_started_at_ms)
{%- endmacro %}

{# How long it may be before it is late; `times` has the topic's thresholds. #}
{% macro may_wait_ms(segment, times) -%}
if({{ segment }}.segment_state = 'COPY_SEGMENT_STARTED', {{ times }}.copy_threshold_ms, {{ times }}.delete_threshold_ms)
{%- endmacro %}
