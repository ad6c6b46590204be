{# What the run works on, found once and read by several models: rows in a scratch folder of the warehouse. A view would
   search the state again for each of its readers, and would not tell Spark that the list is short.
     as_literals   a handful of rows stand in the view itself: Spark plans them away where it can. Of a single row a
                   scalar subquery becomes a literal, by which Delta skips files
     works_on      run_list without whose rows this one, which is not of literals, has none; works_when: predicate on those rows #}
{% materialization run_list, adapter='spark' %}
    {%- if is_unread() -%}
        {%- do store_raw_result('main', message='SKIP not read', code='SKIP', rows_affected=0) -%}
    {%- elif config.meta_get('as_literals') -%}
        {%- set rows = literal_rows(compiled_code) -%}
        {%- call statement('main') -%}
create or replace view {{ model.schema }}.{{ model.alias }} as select * from {{ rows }}
        {%- endcall -%}
    {%- else -%}
        {%- set rows = no_rows_of(model) if has_no_work() else compiled_code -%}
        {%- do make_list(model.schema ~ '.' ~ model.alias, rows) -%}
        {%- do store_raw_result('main', message='LIST', code='LIST', rows_affected=0) -%}
    {%- endif -%}
    {{ return({'relations': [this]}) }}
{% endmaterialization %}

{# A table of the session's catalog, so that Spark knows its columns: of a bare folder each of its readers would find
   them out anew. #}
{% macro make_list(relation, sql) %}
    {%- do run_query('drop table if exists ' ~ relation) -%}
    {%- do run_query('create table ' ~ relation ~ ' using parquet location ' ~ text_of(list_folder(relation)) ~ ' as\n' ~ sql) -%}
{% endmacro %}

{# In the run's own folder, so that runs beside each other keep theirs, and new each time. The next run removes it
   (`sessions/lists.py`), and a plain `dbt run` its own when it ends. #}
{% macro list_folder(name) %}
    {%- set run = run_query('select is_open, run_id from run.parameters').rows[0] -%}
    {%- set folder = '/_moldau/run/' if run[0] else '/_moldau/plain_run/' -%}
    {{ return(warehouse_folder() ~ folder ~ run[1] ~ '/' ~ name ~ '/' ~ invocation_id) }}
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
