{# What a run of this kind will do with a group, in words: of a live group that changed since the last one, that it decides anew. #}
{% macro next_run_text(kind, reason_text) -%}
'{{ kind }}: ' || coalesce({{ reason_text }}, if(decisions_joined.group_state = 'DEAD', null, 'decides anew.'))
{%- endmacro %}
