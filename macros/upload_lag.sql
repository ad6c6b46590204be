{# What is left to upload when the walk stands at an offset: the eligible segments are one run. #}
{% macro upload_lag(measured, offset) -%}
if({{ measured }}.refusal_code is null, coalesce(greatest({{ measured }}.run_end_offset - greatest({{ offset }}, {{ measured }}.run_base_offset), 0), 0), null)
{%- endmacro %}
