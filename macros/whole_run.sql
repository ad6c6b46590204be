{# on-run-start #}
{% macro open_dbt_run() %}
    {%- if execute and is_session() -%}
        {%- if whole_run() -%}
            {%- do register_tables(looked_at()) -%}
            {%- do log('moldau: run ' ~ adapter.open_run(whole_run(), var('at', none), var('clusters', [])) ~ ' is open', info=true) -%}
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

{# The kind of run that dbt carries out as a whole: the selector names it. none = it only decides, or makes what moldau's own
   session has asked for. #}
{% macro whole_run() %}
    {%- set kind = invocation_args_dict.get('selector') or '' -%}
    {%- set is_kind = ('decide_' ~ kind) in graph.nodes.values() | map(attribute='tags') | sum(start=[]) -%}
    {{ return(kind if is_kind and target.type == 'moldau' and flags.WHICH in ('run', 'build') else none) }}
{% endmacro %}
