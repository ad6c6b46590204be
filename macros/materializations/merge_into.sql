{# A thin write into a Delta table that exists already: its contract made it, dbt never re-creates it.
   All but `unique_key`, which is a word of dbt's, stands in `meta`:
     into                 'database.table' that is written; default: the model's own name
     write                merge (default) | append | replace (every row)
     write_needs_open_run nothing is written when no run is open (plain dbt run)
     unique_key           key columns, never null
     pruned_by            number column of the key: in a big table only files within the span of the source's rows are read
     delete_when          predicate for WHEN MATCHED ... THEN DELETE
     matched_condition    predicate on t (target) and s (source) under which a row may change
     update_set           {column: expression}, default every column; false = never
     insert_when          predicate on s for new rows, of an append or a replacement for every row; false = never insert
     works_on             run_list without whose rows there is nothing to write
     works_when           predicate on those rows
     skips_no_rows        true = look first whether the model selects anything: an append of nothing is a commit, too;
                          'listed' = list it first: planned once where there mostly is something
     small_bytes          size on disk from which a table is merged in two steps, if nobody else writes; of all models the same
     in_slices_of         run_list with a slice_index: one append for each slice, in order, each told in run.slice
   Only the rows that the model selects are ever touched. #}
{% materialization merge_into, adapter='spark' %}
    {%- set into = config.meta_get('into', model.schema ~ '.' ~ model.alias) -%}
    {%- set write = config.meta_get('write', 'merge') -%}
    {%- if write not in ('merge', 'append', 'replace') -%}
        {%- do exceptions.raise_compiler_error('write: ' ~ write ~ ' is not allowed, but merge, append or replace') -%}
    {%- endif -%}
    {%- if whole_run() -%}{%- do adapter.begins(model.name) -%}{%- endif -%}
    {%- if config.meta_get('write_needs_open_run') and not is_run_open() -%}
        {%- do store_raw_result('main', message='SKIP no open run', code='SKIP', rows_affected=0) -%}
    {%- elif has_no_work() -%}
        {%- do store_raw_result('main', message='SKIP nothing due', code='SKIP', rows_affected=0) -%}
    {%- elif config.meta_get('skips_no_rows') == 'listed' -%}
        {%- set selected = 'run.' ~ model.alias ~ '_selected' -%}
        {%- do make_list(selected, compiled_code) -%}
        {%- if has_no_rows(selected) -%}
            {%- do store_raw_result('main', message='SKIP no rows', code='SKIP', rows_affected=0) -%}
        {%- else -%}
            {%- do write_rows(into, 'select * from ' ~ selected, write) -%}
        {%- endif -%}
    {%- elif config.meta_get('skips_no_rows') and has_no_rows('(' ~ compiled_code ~ ')') -%}
        {%- do store_raw_result('main', message='SKIP no rows', code='SKIP', rows_affected=0) -%}
    {%- elif config.meta_get('in_slices_of') -%}
        {%- do append_in_slices(into, compiled_code) -%}
    {%- else -%}
        {%- do write_rows(into, compiled_code, write) -%}
    {%- endif -%}
    {%- if whole_run() -%}{%- do adapter.ends(model.name) -%}{%- endif -%}
    {{ return({'relations': [this]}) }}
{% endmaterialization %}

{% macro write_rows(into, source_sql, write) %}
    {%- set bytes = size_bytes(into) if write == 'merge' else 0 -%}
    {%- set is_big = bytes > config.meta_require('small_bytes') -%}
    {%- if bytes == 0 and not config.meta_get('insert_when', true) -%}
        {%- do store_raw_result('main', message='SKIP empty table', code='SKIP', rows_affected=0) -%}
    {%- elif write != 'merge' or (bytes == 0 and is_alone()) -%}
        {%- call statement('main') -%}{{ insert_sql(into, source_sql, write) }}{%- endcall -%}
    {%- else -%}
        {%- set affected = merge_in_parts(into, source_sql) if is_big and is_alone() else affected_rows(merge_sql(into, source_sql)) -%}
        {%- do store_raw_result('main', message='MERGE ' ~ affected, code='MERGE', rows_affected=affected) -%}
    {%- endif -%}
{% endmacro %}

{% macro append_in_slices(into, source_sql) %}
    {%- set last = run_query('select coalesce(max(slice_index), -1) from ' ~ ref(config.meta_get('in_slices_of'))).rows[0][0] -%}
    {%- for slice in range(last + 1) -%}
        {%- do run_query('create or replace view run.slice as select ' ~ slice ~ ' as slice_index') -%}
        {%- do run_query(insert_sql(into, source_sql, 'append')) -%}
    {%- endfor -%}
    {%- do store_raw_result('main', message='APPEND ' ~ (last + 1) ~ ' slices', code='APPEND', rows_affected=0) -%}
{% endmacro %}

{% macro is_run_open() %}
    {{ return(run_query('select is_open from run.parameters').rows[0][0]) }}
{% endmacro %}

{# The lock of the warehouse keeps other writers out. Where nobody holds it (a plain `dbt run`, an object store) every
   merge is one MERGE: it has read the table, so Delta refuses its commit when another writer's came between. An insert
   has read nothing, and would be committed beside the same key. #}
{% macro is_alone() %}
    {{ return(run_query('select is_locked from run.parameters').rows[0][0]) }}
{% endmacro %}

{% macro has_no_work() %}
    {%- set works_on = config.meta_get('works_on') -%}
    {{ return(works_on and has_no_rows(ref(works_on), config.meta_get('works_when', 'true'))) }}
{% endmacro %}

{% macro has_no_rows(relation, condition='true') %}
    {{ return(run_query('select 1 from ' ~ relation ~ ' where ' ~ condition ~ ' limit 1').rows | length == 0) }}
{% endmacro %}

{# 0 = no row. In quotes: `history` is a word of Delta. #}
{% macro size_bytes(into) %}
    {{ return(run_query('describe detail `' ~ into | replace('.', '`.`') ~ '`').columns['sizeInBytes'].values()[0]) }}
{% endmacro %}

{# Deletion vectors spare the rewriting of big files for a few rows. A table that may have them costs Delta a job at
   every look for them, so small tables are made without. #}
{% macro hide_rows(into) %}
    {%- set is_enabled = run_query("show tblproperties " ~ into ~ " ('delta.enableDeletionVectors')").rows[0][1] -%}
    {%- if is_enabled != 'true' -%}
        {%- do run_query("alter table " ~ into ~ " set tblproperties ('delta.enableDeletionVectors' = 'true')") -%}
    {%- endif -%}
{% endmacro %}

{% macro affected_rows(merge) %}
    {{ return(run_query(merge).rows[0][0] | int) }}
{% endmacro %}

{# MERGE joins what may be inserted so that Spark can only broadcast or shuffle the table. With the new rows taken out
   first the few rows that change are broadcast instead, and the table is only read through. Two commits: whoever is
   killed between them merges the same rows again, and nobody else may write between them. #}
{% macro merge_in_parts(into, source_sql) %}
    {%- do hide_rows(into) -%}
    {%- set changes = 'run.' ~ model.alias ~ '_changes' -%}
    {%- do make_list(changes, source_sql) -%}
    {%- set span = span_of(changes, config.meta_get('pruned_by')) -%}
    {%- set insert_when = config.meta_get('insert_when', 'true') -%}
    {%- set inserted = 0 -%}
    {%- if insert_when -%}
        {%- set new_rows = 'run.' ~ model.alias ~ '_new' -%}
        {%- do make_list(new_rows, new_rows_sql(into, changes, span)) -%}
        {%- set inserted = run_query('select count(*) from ' ~ new_rows).rows[0][0] | int -%}
    {%- endif -%}
    {%- set merged = affected_rows(merge_sql(into, 'select * from ' ~ changes, is_matched_only=true, span=span)) -%}
    {%- if inserted -%}
        {%- do run_query(insert_sql(into, 'select * from ' ~ new_rows, 'append')) -%}
    {%- endif -%}
    {{ return(merged + inserted) }}
{% endmacro %}

{# Literal predicate on the column that all of the rows meet; none = there is none. #}
{% macro span_of(changes, column) %}
    {%- if column -%}
        {%- set ends = run_query('select min(' ~ column ~ '), max(' ~ column ~ ') from ' ~ changes).rows[0] -%}
        {{ return(column ~ ' is null' if ends[0] is none else column ~ ' between ' ~ (ends[0] | int) ~ ' and ' ~ (ends[1] | int)) }}
    {%- endif -%}
    {{ return(none) }}
{% endmacro %}
