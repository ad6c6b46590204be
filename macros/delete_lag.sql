{# Lag of the retention walk from a row on: the largest chosen end + 1 less the first chosen base; null = not in the walk.
   `last_row`: of the frame, which is read from the walk's end. #}
{% macro delete_lag(last_row) -%}
if(
            is_walked and walk_position is not null,
            coalesce(
                max(if(is_chosen and not is_behind_stop, end_offset + 1, null)) over ({{ walk_backwards_to(last_row) }})
                - last_value(if(is_chosen and not is_behind_stop, start_offset, null), true) over ({{ walk_backwards_to(last_row) }}),
                0
            ),
            null
        )
{%- endmacro %}

{# A frame that grows: one that shrinks towards the end Spark computes anew for every row. #}
{% macro walk_backwards_to(last_row) -%}
partition by cluster_id, topic_id, partition_index order by walk_position desc nulls first rows between unbounded preceding and {{ last_row }}
{%- endmacro %}
