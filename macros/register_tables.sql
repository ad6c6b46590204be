{% macro warehouse_folder() %}
    {{ return(run_query("set spark.sql.warehouse.dir").rows[0][1]) }}
{% endmacro %}

{# A text as a literal of Spark SQL. #}
{% macro text_of(text) %}
    {{ return("'" ~ text | replace('\\', '\\\\') | replace("'", "\\'") ~ "'") }}
{% endmacro %}

{# A folder of files as a relation. #}
{% macro files_in(file_format, folder) %}
    {{ return(file_format ~ '.`' ~ folder | replace('`', '``') ~ '`') }}
{% endmacro %}

{# Tell the in-memory catalog where the warehouse's tables lie, as the command line does itself.
   An unregistered table would look absent. #}
{% macro register_tables() %}
    {%- set warehouse = warehouse_folder() -%}
    {%- do run_query("select 1 from " ~ files_in('text', warehouse ~ '/state/runs/_delta_log') ~ " limit 0") -%}
    {%- do run_query("create schema if not exists run location " ~ text_of(warehouse ~ '/_moldau/run')) -%}
    {%- set tables = [] -%}
    {%- for source in graph.sources.values() if source.source_name != 'run' -%}
        {%- do tables.append([source.schema, source.identifier]) -%}
    {%- endfor -%}
    {%- for node in graph.nodes.values() if node.resource_type == 'seed' or (node.config.materialized == 'merge_into' and not node.config.into) -%}
        {%- do tables.append([node.schema, node.alias]) -%}
    {%- endfor -%}
    {%- for schema, name in tables -%}
        {%- set location = warehouse ~ '/' ~ schema -%}
        {%- do run_query("create schema if not exists " ~ schema ~ " location " ~ text_of(location)) -%}
        {%- do run_query("create table if not exists " ~ schema ~ "." ~ name ~ " using delta location " ~ text_of(location ~ '/' ~ name)) -%}
    {%- endfor -%}
{% endmacro %}
