{# Topics that a request is to have if none is urgent: whole numbers at each step, as Java divides longs. #}
{% macro target_fetch_size(cached_topics, evict_ms, factor) -%}
greatest(
            if(
                {{ factor }} = '*10',
                {{ cached_topics }} div nullif({{ evict_ms }} div 1000, 0) * 10,
                {{ cached_topics }} div nullif({{ evict_ms }} div 1000, 0) div 10
            ),
            20
        )
{%- endmacro %}
