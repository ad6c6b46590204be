{# For a merge: target and source differ in one of these columns. #}
{% macro differs(columns) %}
    {%- set same = [] -%}
    {%- for column in columns -%}{%- do same.append('t.' ~ column ~ ' <=> s.' ~ column) -%}{%- endfor -%}
    {{ return('not (' ~ same | join(' and ') ~ ')') }}
{% endmacro %}
