{# A quotient of whole numbers, null where there is nothing to divide by. #}
{% macro mean(total, number) -%}
cast({{ total }} as double) / nullif(cast({{ number }} as double), 0)
{%- endmacro %}
