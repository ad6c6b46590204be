{# remote.log.manager.task.interval.ms of a cluster's effective settings, or Kafka's default. #}
{% macro task_interval_ms(settings) -%}
coalesce(cast(try_element_at(from_json({{ settings }}, 'map<string, string>'), 'remote.log.manager.task.interval.ms') as bigint), 30000)
{%- endmacro %}
