{# What a translation is about, in the words that `moldau explain` takes. #}
{% macro translation_subject() -%}
    concat('translation ', group_id, ' ', topic_name, '-', partition_index, ' of ', flow)
{%- endmacro %}

{# The same of an offset that is offered to a group of the target. #}
{% macro target_offset_subject() -%}
    concat('target offset ', group_id, ' ', target_topic_name, '-', partition_index, ' of ', flow)
{%- endmacro %}
