{# When the request left that an answer is of. #}
{% macro metadata_request_answered(requests, answered_at_ms) -%}
array_max(filter({{ requests }}, at_ms -> at_ms <= {{ answered_at_ms }}))
{%- endmacro %}

{# The first answer at or after an access. #}
{% macro first_answer_after(refreshes, access_at_ms) -%}
array_min(filter({{ refreshes }}, at_ms -> at_ms >= {{ access_at_ms }}))
{%- endmacro %}
