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
                {%- if view.config.materialized == 'run_list' and not view.config.meta.as_literals -%}
                    {%- do make_list(relations[view.name], sql) -%}
                {%- else -%}
                    {%- do run_query('create or replace view ' ~ relations[view.name] ~ ' as ' ~ sql) -%}
                {%- endif -%}
                {%- do made.append(view.unique_id) -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endfor -%}
{% endmacro %}

{# What the selection looks at: itself, and what views and lists among it read; of what unit tests are given, the seeds. #}
{% macro looked_at() %}
    {%- set ids = selected_resources | list -%}
    {%- for id in given() if id.startswith('seed.') and id not in ids -%}
        {%- do ids.append(id) -%}
    {%- endfor -%}
    {%- for id in ids if id in graph.nodes -%}
        {%- set node = graph.nodes[id] -%}
        {%- if id in selected_resources or node.config.materialized in ('view', 'run_list') -%}
            {%- for parent in node.depends_on.nodes if parent not in ids -%}
                {%- do ids.append(parent) -%}
            {%- endfor -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(ids) }}
{% endmacro %}

{# dbt's ids of what the selected unit tests are given. #}
{% macro given() %}
    {%- set ids = [] -%}
    {#- a unit test is no node of the graph; its id has the model's name -#}
    {%- for id in selected_resources if id.startswith('unit_test.') -%}
        {%- do ids.extend(graph.nodes['model.' ~ project_name ~ '.' ~ id.split('.')[2]].depends_on.nodes) -%}
    {%- endfor -%}
    {{ return(ids | unique | list) }}
{% endmacro %}

{# dbt asks the database for the columns of what a unit test is given. A model that is not there for another reason is there
   until the end as its YAML tells: without rows, and without what it reads. #}
{% macro stand_ins(wanted) %}
    {%- set found = [] -%}
    {%- for id in given() if flags.WHICH == 'test' and id in graph.nodes and id not in wanted -%}
        {%- set node = graph.nodes[id] -%}
        {%- if load_relation(api.Relation.create(schema=node.schema, identifier=node.alias)) is none -%}
            {%- do found.append(node) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(found) }}
{% endmacro %}

{% macro make_stand_ins(wanted) %}
    {%- set found = stand_ins(wanted) -%}
    {%- for schema in found | map(attribute='schema') | unique -%}
        {%- do run_query('create schema if not exists ' ~ schema) -%}
    {%- endfor -%}
    {%- for node in found -%}
        {%- do run_query('create or replace view ' ~ node.schema ~ '.' ~ node.alias ~ ' as ' ~ no_rows_of(node)) -%}
    {%- endfor -%}
{% endmacro %}

{# on-run-end #}
{% macro drop_stand_ins() %}
    {%- if execute and given() -%}
        {%- for node in stand_ins(looked_at()) -%}
            {%- do run_query('drop view if exists ' ~ node.schema ~ '.' ~ node.alias) -%}
        {%- endfor -%}
    {%- endif -%}
{% endmacro %}
