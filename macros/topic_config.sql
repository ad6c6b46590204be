{# A config of a topic: its own, else the broker's property of another name, else Kafka's default. #}
{% macro topic_config(name, broker_name, default_value, data_type) -%}
cast(
    coalesce(
        try_element_at(configs, '{{ name }}'),
        try_element_at(broker_configs, '{{ broker_name }}'),
        '{{ default_value }}'
    ) as {{ data_type }}
)
{%- endmacro %}
