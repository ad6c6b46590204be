{# A sum that ends at the largest bigint instead of wrapping: offsets near 2^63 stand in records that no broker writes.
   Null without a value. `where`: which rows count. #}
{% macro long_sum(expression, where='true') -%}
coalesce(
            try_sum({{ expression }}) filter (where {{ where }}),
            if(count({{ expression }}) filter (where {{ where }}) = 0, null, 9223372036854775807)
        )
{%- endmacro %}

{# How far one value is above another, the largest bigint where that is past it. #}
{% macro long_difference(larger, smaller) -%}
if({{ larger }} is null or {{ smaller }} is null, null, coalesce(try_subtract({{ larger }}, {{ smaller }}), 9223372036854775807))
{%- endmacro %}
