{# A run used this version of a cluster's settings. #}
{% macro is_in_force(versions, run_id) -%}
{{ versions }}.from_run_id <= {{ run_id }}
            and coalesce({{ run_id }} < {{ versions }}.until_run_id, true)
{%- endmacro %}
