{# on-run-start #}
{% macro open_dbt_run() %}
    {%- if execute and is_session() -%}
        {%- if whole_run() -%}
            {%- set wanted = adapter.looks_at(whole_run()) if flags.WHICH == 'run' else looked_at() -%}
            {%- do register_tables(wanted) -%}
            {%- set reads = graph.sources.values() | selectattr('unique_id', 'in', wanted) | selectattr('schema', 'equalto', 'run') | map(attribute='identifier') | list -%}
            {%- do log('moldau: run ' ~ adapter.open_run(whole_run(), var('at', none), var('clusters', []), reads) ~ ' is open', info=true) -%}
        {%- else -%}
            {%- do open_plain_run() -%}
        {%- endif -%}
    {%- endif -%}
{% endmacro %}

{# on-run-end #}
{% macro close_dbt_run(results) %}
    {%- if execute and whole_run() -%}
        {%- set failed = results | selectattr('status', 'in', ['error', 'fail', 'runtime error', 'skipped']) | list -%}
        {%- do log('moldau: ' ~ adapter.close_run(failed | length == 0), info=true) -%}
    {%- elif execute and target.type == 'moldau' and 'merge_into' in results | map(attribute='node.config.materialized') -%}
        {%- do log('moldau: decided as of now, and nothing was applied: `dbt run --selector cycle` is a whole run', info=true) -%}
    {%- endif -%}
    {%- if execute and is_session() -%}
        {%- do drop_stand_ins() -%}
        {#- of a plain run, with the folder of its lists: no other run has it -#}
        {%- do run_query('drop schema if exists plain_run cascade') -%}
    {%- endif -%}
{% endmacro %}

{# Spark as moldau has it, in whose catalog tables are registered. Elsewhere the project only compiles. #}
{% macro is_session() %}
    {{ return(target.type in ('moldau', 'spark')) }}
{% endmacro %}

{# A selector cannot stop at a barrier, so it takes views and lists that nothing of this run reads: they are not made. The
   tests of a build may ask them. #}
{% macro is_unread() %}
    {{ return(target.type == 'moldau' and adapter.is_unread(model.unique_id)) }}
{% endmacro %}

{# The kind of run that dbt carries out as a whole: the selector names it. none = it only decides, or makes what moldau's own
   session has asked for. #}
{% macro whole_run() %}
    {%- set selector = invocation_args_dict.get('selector') -%}
    {%- set is_whole = selector and target.type == 'moldau' and flags.WHICH in ('run', 'build') and adapter.is_kind(selector) -%}
    {{ return(selector if is_whole else none) }}
{% endmacro %}
