{# A sync with what a translation needs of it; of two the later one in the offset-syncs topic is the greater. #}
{% macro sync_position() -%}
    struct(
            syncs_incarnation,
            sync_log_offset,
            upstream_offset,
            downstream_offset,
            previous_sync_log_offset,
            recorded_at_ms,
            is_usable
        )
{%- endmacro %}
