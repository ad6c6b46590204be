{# Bytes of a metadata answer that one topic takes (version 9, as producers of 2.4 to 2.7 ask). #}
{% macro metadata_bytes(topic_name, partitions, replicas) -%}
10 + octet_length(encode({{ topic_name }}, 'UTF-8')) + {{ partitions }} * (18 + 8 * {{ replicas }})
{%- endmacro %}
