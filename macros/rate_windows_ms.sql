{# Rates are taken over the last ten minutes and over the last hour. #}
{% macro rate_windows_ms() -%}
array(600000L, 3600000L)
{%- endmacro %}
