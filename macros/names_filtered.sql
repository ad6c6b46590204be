{# The names in a column of records, for each flow of their cluster, and whether the flow leaves them out. A pattern is matched
   once for each name and not for each record: DuckDB compiles one that is no literal each time.
   `cluster`: column of `flows` with the records' cluster; `kind`: groups or topics, by whose patterns. #}
{% macro names_filtered(records, column, flows, cluster, kind) -%}
    select
        flows.flow,
        names.{{ column }},
        not names.{{ column }} rlike flows.{{ kind }}_pattern
        or coalesce(
            names.{{ column }} rlike flows.{{ kind }}_excluded_pattern, false
        ) as is_filtered

    from (select distinct cluster_id, {{ column }} from {{ records }}) as names

    inner join {{ flows }} as flows
        on names.cluster_id = flows.{{ cluster }}
{%- endmacro %}
