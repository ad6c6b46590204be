{# Kafka writes the zero uuid where a topic has no id, or the one who wrote it did not know it. #}
{% macro told_topic_id() -%}
nullif(topic_id, 'AAAAAAAAAAAAAAAAAAAAAA')
{%- endmacro %}
