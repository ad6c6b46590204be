{# The start of what is no whole run. The command line has opened the run already; a plain `dbt run` finds none, or that of another plain one, so
   tables are registered here and decisions are made at now; no run is open, so nothing is folded, applied or called. #}
{% macro open_plain_run() %}
    {%- if execute -%}
        {%- set views = run_views() -%}
        {%- if 'parameters' not in views or not is_run_open() -%}
            {%- set in_force = [] -%}
            {%- set wanted = looked_at() -%}
            {%- do register_tables(wanted) -%}
            {%- if flags.WHICH in ('run', 'build') and has_journals() -%}
                {%- do exceptions.raise_compiler_error('a run of moldau has not ended in this warehouse: wait for it, or let the next command of moldau finish it') -%}
            {%- endif -%}
            {%- set now_ms = (modules.datetime.datetime.now(modules.pytz.utc).timestamp() * 1000) | int -%}
            {%- set last = run_query("select coalesce(max(run_id), '00000000') from state.runs").rows[0][0] -%}
            {#- sorts after the last run and before the next one; another plain run may begin in the same millisecond -#}
            {%- set run_id = last ~ '~dbt-' ~ now_ms ~ '-' ~ invocation_id[:8] -%}
            {%- set told = {'run_id': "'" ~ run_id ~ "'", 'kind': "'dbt'", 'at_ms': now_ms, 'started_at_ms': now_ms} -%}
            {%- do run_query('create or replace view run.parameters as ' ~ parameters_sql(told)) -%}
            {#- its lists go with the schema, which on-run-end drops -#}
            {%- do run_query('create schema if not exists plain_run location ' ~ text_of(warehouse_folder() ~ '/_moldau/plain_run/' ~ run_id)) -%}
            {#- under the settings in force -#}
            {%- for source in graph.sources.values() if source.unique_id in wanted and source.config.meta.is_in_force -%}
                {%- do run_query('create or replace view run.' ~ source.identifier ~ ' as select * from ' ~ source.config.meta.like ~ ' where valid_to_ms is null') -%}
                {%- do in_force.append(source.identifier) -%}
            {%- endfor -%}
            {#- what this run does not bring is empty -#}
            {%- for source in graph.sources.values() if source.schema == 'run' and source.unique_id in wanted and source.identifier not in views + in_force + ['parameters'] -%}
                {%- do run_query('create or replace view run.' ~ source.identifier ~ ' as ' ~ no_rows_of(source)) -%}
            {%- endfor -%}
            {%- if flags.WHICH == 'test' -%}
                {%- do make_views(wanted) -%}
                {%- do make_stand_ins(wanted) -%}
            {%- endif -%}
        {%- endif -%}
    {%- endif -%}
{% endmacro %}

{# The one row of run.parameters: SQL of what is told, of the other columns what the contract says. #}
{% macro parameters_sql(told) %}
    {%- set source = graph.sources.values() | selectattr('schema', 'equalto', 'run') | selectattr('identifier', 'equalto', 'parameters') | first -%}
    {%- set columns = [] -%}
    {%- for column in source.columns.values() -%}
        {%- set value = told.get(column.name, source.config.meta.untold[column.name]) -%}
        {%- do columns.append('cast(' ~ value ~ ' as ' ~ column.data_type ~ ') as ' ~ column.name) -%}
    {%- endfor -%}
    {{ return('select ' ~ columns | join(', ')) }}
{% endmacro %}

{# Decisions that are made between a kill and the end of that run would be applied by it. #}
{% macro has_journals() %}
    {{ return(not has_no_rows(files_in('text', warehouse_folder() ~ '/_moldau/runs'))) }}
{% endmacro %}

{% macro run_views() %}
    {%- if run_query("show schemas like 'run'").rows | length == 0 -%}{{ return([]) }}{%- endif -%}
    {{ return(run_query('show views in run').columns['viewName'].values() | list) }}
{% endmacro %}

{# What a source of `run` selects when a run brings nothing, or what a model would: the columns of the table it is like, or
   its own. #}
{% macro no_rows_of(source) %}
    {%- if source.config.meta.like -%}{{ return('select * from ' ~ source.config.meta.like ~ ' where false') }}{%- endif -%}
    {%- set columns = [] -%}
    {%- for column in source.columns.values() -%}
        {%- do columns.append('cast(null as ' ~ column.data_type ~ ') as ' ~ column.name) -%}
    {%- endfor -%}
    {{ return('select ' ~ columns | join(', ') ~ ' where false') }}
{% endmacro %}
