{# A thin write into a Delta table that exists already: its contract made it, dbt never re-creates it.
     into                 'database.table' that is written; default: the model's own name
     write                merge (default) | append | replace (every row)
     write_needs_open_run nothing is written when no run is open (plain dbt run)
     unique_key           key columns, never null
     target_filter        literal predicate on t, added to ON: files are pruned by it
     delete_when          predicate for WHEN MATCHED ... THEN DELETE
     matched_condition    predicate on t (target) and s (source) under which a row may change
     update_set           {column: expression}, default every column; false = never
     insert_when          predicate on s for new rows; false = never insert
   Only the rows that the model selects are ever touched. #}
{% materialization merge_into, adapter='spark' %}
    {%- set into = config.get('into', model.schema ~ '.' ~ model.alias) -%}
    {%- set write = config.get('write', 'merge') -%}
    {%- if config.get('write_needs_open_run') and not is_run_open() -%}
        {%- do store_raw_result('main', message='SKIP no open run', code='SKIP', rows_affected=0) -%}
    {%- elif write == 'merge' and not is_empty(into) -%}
        {%- do hide_rows_or_rewrite_files(into) -%}
        {%- call statement('main', fetch_result=True) -%}{{ merge_sql(into, compiled_code) }}{%- endcall -%}
        {%- set affected = load_result('main').table.rows[0][0] | int -%}
        {%- do store_raw_result('main', message='MERGE ' ~ affected, code='MERGE', rows_affected=affected) -%}
    {%- else -%}
        {%- call statement('main') -%}{{ insert_sql(into, compiled_code, write) }}{%- endcall -%}
    {%- endif -%}
    {{ return({'relations': [this]}) }}
{% endmaterialization %}

{% macro is_run_open() %}
    {{ return(run_query('select is_open from run.parameters').rows[0][0]) }}
{% endmacro %}

{% macro is_empty(into) %}
    {{ return(run_query('select 1 from ' ~ into ~ ' limit 1').rows | length == 0) }}
{% endmacro %}

{# A deletion vector spares the rewriting of a big file for a few rows, and costs a small table more than it saves.
   A session switch, so it is set before every merge. #}
{% macro hide_rows_or_rewrite_files(into) %}
    {%- set is_big = run_query('describe detail ' ~ into).columns['sizeInBytes'].values()[0] > 8 * 1024 * 1024 -%}
    {%- do run_query('set spark.databricks.delta.merge.deletionVectors.persistent = ' ~ is_big | lower) -%}
{% endmacro %}

{# A merge into an empty table is an insert of the rows that would not be deleted: no join. #}
{% macro insert_sql(into, source_sql, write) %}
insert {{ 'overwrite' if write == 'replace' else 'into' }} {{ into }} by name
select * {% if config.get('delete_when') %}except (is_gone) {% endif %}from (
{{ source_sql }}
) as s
{%- if config.get('delete_when') %}
where not ({{ config.get('delete_when') }})
{%- endif %}
{% endmacro %}

{% macro merge_sql(into, source_sql) %}
    {%- set update_set = config.get('update_set', '*') -%}
    {%- set matched_condition = config.get('matched_condition') -%}
    {%- set insert_when = config.get('insert_when', 'true') -%}
merge into {{ into }} as t
using (
{{ source_sql }}
) as s
on {% if config.get('target_filter') %}({{ config.get('target_filter') }}) and {% endif %}
{%- for key in config.require('unique_key') %}t.{{ key }} = s.{{ key }}{{ ' and ' if not loop.last }}{% endfor %}
{%- if config.get('delete_when') %}
when matched and ({{ config.get('delete_when') }}) then delete
{%- endif %}
{%- if update_set %}
when matched{% if matched_condition %} and ({{ matched_condition }}){% endif %} then update set
    {%- if update_set == '*' %} *{% else %}
    {% for column, expression in update_set.items() %}{{ column }} = {{ expression }}{{ ', ' if not loop.last }}{% endfor %}
    {%- endif %}
{%- endif %}
{%- if insert_when %}
when not matched and ({{ insert_when }}) then insert *
{%- endif %}
{% endmacro %}
