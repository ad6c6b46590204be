{# The names in a column of records, for each flow of their cluster, and whether the flow leaves them out. A pattern is matched
   once for each name and not for each record: DuckDB compiles one that is no literal each time.
   `cluster`: column of `flows` with the records' cluster; `kind`: groups or topics, by whose patterns. #}
{% macro names_filtered(records, column, flows, cluster, kind) -%}
    select
        flow,
        {{ column }},
        not {{ column }} rlike pattern
        or coalesce({{ column }} rlike excluded_pattern, false) as is_filtered

    from (
        select distinct
            flows.flow,
            {{ records }}.{{ column }},
            flows.{{ kind }}_pattern as pattern,
            flows.{{ kind }}_excluded_pattern as excluded_pattern

        from {{ records }}

        inner join {{ flows }} as flows
            on {{ records }}.cluster_id = flows.{{ cluster }}
    )
{%- endmacro %}
