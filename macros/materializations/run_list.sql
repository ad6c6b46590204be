{# What the run works on, found once and read by several models: rows in a scratch folder of the warehouse, and a
   view on them. A view alone would search the state again for each of its readers, and would not tell Spark that
   the list is short.
     as_literals   a handful of rows stand in the view itself: Spark plans them away where it can. Of a single row a
                   scalar subquery becomes a literal, by which Delta skips files #}
{% materialization run_list, adapter='spark' %}
    {%- set rows = literal_rows(compiled_code) if config.get('as_literals') else write_list(model.alias, compiled_code) -%}
    {%- call statement('main') -%}
create or replace view {{ model.schema }}.{{ model.alias }} as select * from {{ rows }}
    {%- endcall -%}
    {{ return({'relations': [this]}) }}
{% endmaterialization %}

{# Writes the rows into the run's own folder, so that runs beside each other keep theirs; returns the relation that reads
   them. The next run removes the folder (`sessions/lists.py`), and a plain `dbt run` its own when it ends. #}
{% macro write_list(name, sql) %}
    {%- set run = run_query('select is_open, run_id from run.parameters').rows[0] -%}
    {%- set folder = warehouse_folder() ~ ('/_moldau/run/' if run[0] else '/_moldau/plain_run/') ~ run[1] ~ '/' ~ name -%}
    {%- do run_query("insert overwrite directory " ~ text_of(folder) ~ " using parquet\n" ~ sql) -%}
    {{ return(files_in('parquet', folder)) }}
{% endmacro %}

{# The rows as a relation of literals, of the types that the model's YAML declares. Spark itself writes the literals:
   what passes through dbt's tables changes its type. #}
{% macro literal_rows(sql) %}
    {%- set columns = model.columns.values() -%}
    {%- set query -%}
select concat_ws(', ' {%- for column in columns %}, {{ literal_of(column.name) }}{% endfor %}) as literals
from (
{{ sql }}
)
    {%- endset -%}
    {%- set rows = run_query(query).columns['literals'].values() | list -%}
    {%- set relation -%}
(
select
    {%- for column in columns %}
    cast({{ column.name }} as {{ column.data_type }}) as {{ column.name }}{{ ',' if not loop.last }}
    {%- endfor %}
{%- if rows | length == 1 %}
from (select {{ rows[0] }})
{%- else %}
from values ({{ rows | join('), (') if rows else (['null'] * columns | length) | join(', ') }})
{%- endif %}
    as rows ({{ columns | map(attribute='name') | join(', ') }})
{%- if not rows %}
where false
{%- endif %}
)
    {%- endset -%}
    {{ return(relation) }}
{% endmacro %}

{% macro literal_of(column) -%}
coalesce(concat("'", replace(replace(cast({{ column }} as string), '\\', '\\\\'), "'", "\\'"), "'"), 'null')
{%- endmacro %}
