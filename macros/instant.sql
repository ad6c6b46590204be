{# A bigint of Unix milliseconds as a timestamp; null past the year 9999, which stands for never. #}
{% macro instant(at_ms) %}
    if({{ at_ms }} < 253402300800000, timestamp_millis({{ at_ms }}), null)
{% endmacro %}
