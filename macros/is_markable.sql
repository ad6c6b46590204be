{# What the barrier of a request asks of the group (V3): of a push any streams group will do, a delete wants an empty one of
   which something is stored. At -2 it is marked already. #}
{% macro is_markable(groups, is_push) -%}
(
    not {{ groups }}.is_deleted
    and {{ groups }}.group_type = 'streams'
    and (
        {{ is_push }}
        or {{ groups }}.stored_description_topology_epoch = -2
        or ({{ groups }}.group_state = 'EMPTY' and {{ groups }}.stored_description_topology_epoch <> -1)
    )
)
{%- endmacro %}
