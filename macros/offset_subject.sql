{# The subject of a decision about a committed offset. #}
{% macro offset_subject() %}
    concat('offset ', group_id, ' ', topic_name, '-', partition_index)
{% endmacro %}
