{# Times of metadata.evict.ms that a person would choose, from its least to a week. #}
{% macro eviction_times_ms() -%}
array(
            1000L, 2000L, 5000L, 10000L, 20000L, 30000L, 60000L, 120000L, 180000L, 300000L, 600000L, 900000L,
            1800000L, 3600000L, 7200000L, 14400000L, 28800000L, 43200000L, 86400000L, 172800000L, 604800000L
        )
{%- endmacro %}
