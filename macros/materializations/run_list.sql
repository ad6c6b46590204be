{# What the run works on, found once and read by several models: rows in a scratch folder of the warehouse, and a
   view on them. A view alone would search the state again for each of its readers, and would not tell Spark that
   the list is short. #}
{% materialization run_list, adapter='spark' %}
    {%- set warehouse = run_query("set spark.sql.warehouse.dir").rows[0][1] -%}
    {%- set folder = warehouse ~ '/_moldau/run/' ~ model.alias -%}
    {%- do run_query('create schema if not exists ' ~ model.schema) -%}
    {%- call statement('main') -%}
insert overwrite directory '{{ folder }}' using parquet
{{ compiled_code }}
    {%- endcall -%}
    {%- do run_query('create or replace view ' ~ model.schema ~ '.' ~ model.alias ~ ' as select * from parquet.`' ~ folder ~ '`') -%}
    {{ return({'relations': [this]}) }}
{% endmaterialization %}
