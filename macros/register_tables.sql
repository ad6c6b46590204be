{# Of this session (`engines/spark/spark_session.py`). #}
{% macro warehouse_folder() %}
    {{ return(run_query("set moldau.warehouse").rows[0][1]) }}
{% endmacro %}

{# A text as a literal of Spark SQL. #}
{% macro text_of(text) %}
    {{ return("'" ~ text | replace('\\', '\\\\') | replace("'", "\\'") ~ "'") }}
{% endmacro %}

{# A folder of files as a relation. #}
{% macro files_in(file_format, folder) %}
    {{ return(file_format ~ '.`' ~ folder | replace('`', '``') ~ '`') }}
{% endmacro %}

{# Tell the in-memory catalog where the tables lie that the selection reads or writes, as the command line does itself.
   An unregistered table would look absent. `wanted`: see looked_at(). #}
{% macro register_tables(wanted) %}
    {%- set warehouse = warehouse_folder() -%}
    {%- do run_query("select 1 from " ~ files_in('text', warehouse ~ '/state/runs/_delta_log') ~ " limit 0") -%}
    {%- do run_query("create schema if not exists run location " ~ text_of(warehouse ~ '/_moldau/run')) -%}
    {%- set tables = ['state.runs'] -%}
    {%- for source in graph.sources.values() if source.unique_id in wanted -%}
        {%- set like = source.config.meta.like -%}
        {%- if source.source_name != 'run' or like -%}
            {%- do tables.append(like or source.schema ~ '.' ~ source.identifier) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for node in graph.nodes.values() if node.unique_id in wanted -%}
        {%- if node.resource_type == 'seed' -%}
            {%- do tables.append(node.schema ~ '.' ~ node.alias) -%}
        {%- elif node.config.materialized == 'merge_into' -%}
            {%- do tables.append(node.config.meta.into or node.schema ~ '.' ~ node.alias) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for table in tables | unique -%}
        {%- set schema, name = table.split('.') -%}
        {%- set location = warehouse ~ '/' ~ schema -%}
        {%- do run_query("create schema if not exists " ~ schema ~ " location " ~ text_of(location)) -%}
        {%- do run_query("create table if not exists " ~ table ~ " using delta location " ~ text_of(location ~ '/' ~ name)) -%}
    {%- endfor -%}
{% endmacro %}
