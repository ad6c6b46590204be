{# A topic that was not used for so long has been forgotten; no sum, for a limit may be the largest number. #}
{% macro outlasts_eviction(gap_ms, limit_ms, evict_strict) -%}
    {{ gap_ms }} - if({{ evict_strict }}, 1, 0) >= {{ limit_ms }}
{%- endmacro %}
