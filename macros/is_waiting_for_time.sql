{# Time alone will expire the offset. #}
{% macro is_waiting_for_time(offset) %}
    {{ offset }}.reason_code in ('RETENTION_NOT_ELAPSED', 'EXPLICIT_EXPIRY_NOT_REACHED')
{% endmacro %}
