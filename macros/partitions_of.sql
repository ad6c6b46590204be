{# The partitions of a relation and the run in which each last changed. #}
{% macro partitions_of(relation) -%}
    select
        cluster_id,
        topic_id,
        partition_index,
        changed_in_run_id

    from {{ relation }}

    where topic_id is not null
{%- endmacro %}
