{# Each macro here replaces the one of dbt-spark 1.11 of the same name.
   A seed's table is made from its contract like every other and its rows are written over, as literals:
   session mode binds numbers as float and nulls as 'None', and dropping a table leaves its files. #}

{% macro spark__create_csv_table(model, agate_table) %}
    {%- set types = model['config'].get('column_types', {}) -%}
    {%- set sql -%}
        create table if not exists {{ this.render() }} (
            {%- for name in agate_table.column_names %}{{ name }} {{ types[name] }}{{ ', ' if not loop.last }}{% endfor -%}
        ) using delta
    {%- endset -%}
    {%- call statement('create_seed') -%}{{ sql }}{%- endcall -%}
    {{ return(sql) }}
{% endmacro %}

{% macro spark__reset_csv_table(model, full_refresh, old_relation, agate_table) %}
    {{ return('') }}
{% endmacro %}

{% macro spark__load_csv_rows(model, agate_table) %}
    {%- set types = model['config'].get('column_types', {}) -%}
    {%- set sql -%}
        insert overwrite {{ this.render() }} values
        {% for row in agate_table.rows %}(
            {%- for name in agate_table.column_names -%}
                {%- if row[name] is none -%} cast(null as {{ types[name] }})
                {%- else -%} cast('{{ (row[name] | string).replace('\\', '\\\\').replace("'", "\\'") }}' as {{ types[name] }})
                {%- endif -%}{{ ', ' if not loop.last }}
            {%- endfor -%}
        ){{ ', ' if not loop.last }}
        {% endfor %}
    {%- endset -%}
    {%- call statement('load_rows') -%}{{ sql }}{%- endcall -%}
    {{ return(sql) }}
{% endmacro %}
