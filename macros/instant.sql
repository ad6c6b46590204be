{# A bigint of Unix milliseconds as a timestamp; null outside the years 1 to 9999: past them it stands for never,
   and no timestamp holds a number that a client made up. #}
{% macro instant(at_ms) %}
    if({{ at_ms }} between -62135596800000 and 253402300799999, timestamp_millis({{ at_ms }}), null)
{% endmacro %}
