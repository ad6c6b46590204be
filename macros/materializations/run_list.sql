{# What the run works on, found once and read by several models: rows in a scratch folder of the warehouse, and a
   view on them. A view alone would search the state again for each of its readers, and would not tell Spark that
   the list is short. #}
{% materialization run_list, adapter='spark' %}
    {%- do run_query('create schema if not exists ' ~ model.schema) -%}
    {%- set rows = write_list(model.alias, compiled_code) -%}
    {%- call statement('main') -%}
create or replace view {{ model.schema }}.{{ model.alias }} as select * from {{ rows }}
    {%- endcall -%}
    {{ return({'relations': [this]}) }}
{% endmaterialization %}

{# Writes the rows over those of the run before; returns the relation that reads them. #}
{% macro write_list(name, sql) %}
    {%- set folder = warehouse_folder() ~ '/_moldau/run/' ~ name -%}
    {%- do run_query("insert overwrite directory '" ~ folder ~ "' using parquet\n" ~ sql) -%}
    {{ return('parquet.`' ~ folder ~ '`') }}
{% endmacro %}
