{# Lag of the retention walk from a row on: the largest chosen end + 1 less the first chosen base; null = not in the walk. #}
{% macro delete_lag(from_row) -%}
if(
            is_walked and walk_position is not null,
            coalesce(
                max(if(is_chosen and not is_behind_stop, end_offset + 1, null)) over ({{ walk_from(from_row) }})
                - first_value(if(is_chosen and not is_behind_stop, start_offset, null), true) over ({{ walk_from(from_row) }}),
                0
            ),
            null
        )
{%- endmacro %}

{% macro walk_from(from_row) -%}
partition by cluster_id, topic_id, partition_index order by walk_position asc nulls last rows between {{ from_row }} and unbounded following
{%- endmacro %}
