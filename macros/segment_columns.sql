{# What decisions ask of a remote segment, from a relation. #}
{% macro segment_columns(relation) -%}
    {%- for column in [
        'cluster_id', 'segment_id', 'topic_id', 'topic_name', 'partition_index', 'start_offset', 'end_offset', 'segment_state',
        'size_bytes', 'max_timestamp_ms', 'leader_epochs', 'started_broker_id', 'delete_started_at_ms', 'finished_log_offset',
        'delete_started_log_offset'
    ] -%}
    {{ relation }}.{{ column }}{{ ',\n        ' if not loop.last }}
    {%- endfor -%}
{%- endmacro %}
