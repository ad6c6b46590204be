{# A config of a topic: its own, else the broker's property of another name, else Kafka's default. #}
{% macro topic_config(topic, name, broker_name, default_value) -%}
coalesce(try_element_at({{ topic }}.configs, '{{ name }}'), try_element_at({{ topic }}.broker_configs, '{{ broker_name }}'), '{{ default_value }}')
{%- endmacro %}
