{# A plain `dbt test` runs no model, and views do not outlive a session: make them all, parents first. #}
{% macro make_views() %}
    {%- set relations = {} -%}
    {%- for node in graph.nodes.values() if node.resource_type in ('model', 'seed') -%}
        {%- do relations.update({node.name: node.schema ~ '.' ~ node.alias}) -%}
    {%- endfor -%}
    {%- set views = graph.nodes.values() | selectattr('resource_type', 'equalto', 'model')
        | selectattr('config.materialized', 'in', ['view', 'run_list']) | list -%}
    {%- set ids = views | map(attribute='unique_id') | list -%}
    {%- set made = [] -%}
    {%- for schema in views | map(attribute='schema') | unique -%}
        {%- do run_query('create schema if not exists ' ~ schema) -%}
    {%- endfor -%}
    {%- for _ in views if made | length < views | length -%}
        {%- for view in views -%}
            {%- set missing = view.depends_on.nodes | select('in', ids) | reject('in', made) | list -%}
            {%- if view.unique_id not in made and missing | length == 0 -%}
                {%- set code = namespace(text=view.raw_code) -%}
                {%- for ref in view.refs -%}
                    {%- set code.text = code.text.replace("ref('" ~ ref.name ~ "')", "'" ~ relations[ref.name] ~ "'") -%}
                {%- endfor -%}
                {%- for source, table in view.sources -%}
                    {%- set code.text = code.text.replace("source('" ~ source ~ "', '" ~ table ~ "')", "'" ~ source ~ '.' ~ table ~ "'") -%}
                {%- endfor -%}
                {%- do run_query('create or replace view ' ~ relations[view.name] ~ ' as ' ~ render(code.text)) -%}
                {%- do made.append(view.unique_id) -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endfor -%}
{% endmacro %}
