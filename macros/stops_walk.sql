{# The retention walk ends at the first segment that stays for this reason. Kafka: RemoteLogManager.cleanupExpiredRemoteLogSegments. #}
{% macro stops_walk(reason_code) -%}
{{ reason_code }} in ('NOT_BREACHED', 'COPY_IN_FLIGHT')
{%- endmacro %}
