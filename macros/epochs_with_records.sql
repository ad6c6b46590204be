{# Leader epochs without those under which nothing was written: their start is the next one's.
   Kafka: RemoteLogManager.buildFilteredLeaderEpochMap. #}
{% macro epochs_with_records(epochs) -%}
filter({{ epochs }}, (epoch, position) -> coalesce(get({{ epochs }}, position + 1).start_offset <> epoch.start_offset, true))
{%- endmacro %}
