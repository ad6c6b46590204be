{# on-run-start. The command line has opened the run already; a plain `dbt run` finds none, so tables are
   registered here and decisions are made at now; no run is open, so nothing is folded, applied or called. #}
{% macro open_plain_run() %}
    {%- if execute -%}
        {%- set views = run_views() -%}
        {%- if 'parameters' not in views -%}
            {%- do register_tables() -%}
            {%- if flags.WHICH in ('run', 'build') and has_journals() -%}
                {%- do exceptions.raise_compiler_error('a run of moldau has not ended in this warehouse: wait for it, or let the next command of moldau finish it') -%}
            {%- endif -%}
            {%- set now_ms = (modules.datetime.datetime.now(modules.pytz.utc).timestamp() * 1000) | int -%}
            {%- set last = run_query("select coalesce(max(run_id), '00000000') from state.runs").rows[0][0] -%}
            {#- sorts after the last run and before the next one; another plain run may begin in the same millisecond -#}
            {%- set run_id = last ~ '~dbt-' ~ now_ms ~ '-' ~ invocation_id[:8] -%}
            {%- do run_query(
                "create or replace view run.parameters as select '" ~ run_id ~ "' as run_id, 'dbt' as kind, "
                ~ "cast(null as string) as load_kind, false as is_open, false as is_locked, true as is_dry_run, "
                ~ "cast(" ~ now_ms ~ " as bigint) as at_ms, "
                ~ "cast(" ~ now_ms ~ " as bigint) as started_at_ms, "
                ~ "cast(null as array<string>) as cluster_ids, cast(null as string) as topic_name"
            ) -%}
            {#- its lists go with the schema, which on-run-end drops -#}
            {%- do run_query('create schema if not exists plain_run location ' ~ text_of(warehouse_folder() ~ '/_moldau/plain_run/' ~ run_id)) -%}
            {#- under the settings in force -#}
            {%- do run_query('create or replace view run.settings as select * from state.settings where valid_to_ms is null') -%}
        {%- endif -%}
        {#- what this run does not bring is empty -#}
        {%- set brings_nothing = {
            'records': 'decoded.group_records',
            'open_transactions': 'state.open_transactions',
            'remote_log_records': 'decoded.remote_log_records',
            'partition_states': 'raw.partition_states',
            'leader_epochs': 'raw.leader_epochs',
            'local_segments': 'raw.local_segments',
            'topic_configs': 'raw.topic_configs',
            'finished': 'state.runs',
            'slice': '(select 0 as slice_index)',
            'compared': "(select '' as side, '' as domain, '' as cluster_id, '' as subject, '' as ruleset, '' as decision, '' as reason_code, 0L as decided_at_ms)",
            'table_status': "(select '' as table_name, 0L as row_count, 0L as file_count, 0L as size_bytes, 0L as table_version, 0L as written_at_ms)",
        } -%}
        {%- for name, like in brings_nothing.items() if name not in views -%}
            {%- do run_query('create or replace view run.' ~ name ~ ' as select * from ' ~ like ~ ' where false') -%}
        {%- endfor -%}
        {%- if 'parameters' not in views and flags.WHICH == 'test' -%}
            {%- do make_views() -%}
        {%- endif -%}
    {%- endif -%}
{% endmacro %}

{# Decisions that are made between a kill and the end of that run would be applied by it. #}
{% macro has_journals() %}
    {{ return(not has_no_rows(files_in('text', warehouse_folder() ~ '/_moldau/runs'))) }}
{% endmacro %}

{% macro run_views() %}
    {%- if run_query("show schemas like 'run'").rows | length == 0 -%}{{ return([]) }}{%- endif -%}
    {{ return(run_query('show views in run').columns['viewName'].values() | list) }}
{% endmacro %}
