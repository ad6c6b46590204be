{# A plain `dbt test` runs no model, and views do not outlive a session: make those that the selected tests look at, parents
   first. Lists are found once, as in a run: views in their place would be analysed again by each of their readers. #}
{% macro make_views(wanted) %}
    {%- set relations = {} -%}
    {%- for node in graph.nodes.values() if node.resource_type in ('model', 'seed') -%}
        {%- do relations.update({node.name: node.schema ~ '.' ~ node.alias}) -%}
    {%- endfor -%}
    {%- set views = graph.nodes.values() | selectattr('unique_id', 'in', wanted) | selectattr('config.materialized', 'in', ['view', 'run_list']) | list -%}
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
                {%- set sql = render(code.text) -%}
                {%- if view.config.materialized == 'run_list' and not view.config.as_literals -%}
                    {%- do make_list(relations[view.name], sql) -%}
                {%- else -%}
                    {%- do run_query('create or replace view ' ~ relations[view.name] ~ ' as ' ~ sql) -%}
                {%- endif -%}
                {%- do made.append(view.unique_id) -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endfor -%}
{% endmacro %}

{# What the selection looks at: itself, and what views and lists among it read. #}
{% macro looked_at() %}
    {%- set ids = [] -%}
    {%- for id in selected_resources -%}
        {#- a unit test is no node of the graph; its id has the model's name -#}
        {%- do ids.append('model.' ~ project_name ~ '.' ~ id.split('.')[2] if id.startswith('unit_test.') else id) -%}
    {%- endfor -%}
    {%- set selected = ids | list -%}
    {%- for id in ids if id in graph.nodes -%}
        {%- set node = graph.nodes[id] -%}
        {%- if id in selected or node.config.materialized in ('view', 'run_list') -%}
            {%- for parent in node.depends_on.nodes if parent not in ids -%}
                {%- do ids.append(parent) -%}
            {%- endfor -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(ids) }}
{% endmacro %}
