{# The idempotency key of a plugin call: the same for the same run and what it is called for. #}
{% macro call_id() -%}
left(sha2(concat_ws('\n', {{ varargs | join(', ') }}), 256), 32)
{%- endmacro %}
