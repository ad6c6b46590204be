{# What a model writes: its only statement. Spark is given this text; `moldau.compiled.written` renders it with the same options
   and takes it apart for DuckDB, so that these macros ask nothing but `config`. #}

{# Also in place of a merge into an empty table where nobody else writes: no join. #}
{% macro insert_sql(into, source_sql, write) %}
insert {{ 'overwrite' if write == 'replace' else 'into' }} {{ into }} by name
select * {% if 's.is_gone' in config.meta_get('delete_when', '') ~ config.meta_get('insert_when', '') %}except (is_gone) {% endif %}from (
{{ source_sql }}
) as s
{%- if config.meta_get('insert_when') is not none %}
where {{ config.meta_get('insert_when') }}
{%- endif %}
{% endmacro %}

{% macro merge_sql(into, source_sql, is_matched_only=false, span=none) %}
    {%- set update_set = config.meta_get('update_set', '*') -%}
    {%- set matched_condition = config.meta_get('matched_condition') -%}
    {%- set insert_when = config.meta_get('insert_when', 'true') -%}
merge into {{ into }} as t
using (
{{ source_sql }}
) as s
on {% if span %}t.{{ span }} and {% endif %}
{%- for key in config.require('unique_key') %}t.{{ key }} = s.{{ key }}{{ ' and ' if not loop.last }}{% endfor %}
{%- if config.meta_get('delete_when') %}
when matched and ({{ config.meta_get('delete_when') }}) then delete
{%- endif %}
{%- if update_set %}
when matched{% if matched_condition is not none %} and ({{ matched_condition }}){% endif %} then update set
    {%- if update_set == '*' %} *{% else %}
    {% for column, expression in update_set.items() %}{{ column }} = {{ expression }}{{ ', ' if not loop.last }}{% endfor %}
    {%- endif %}
{%- endif %}
{%- if insert_when and not is_matched_only %}
when not matched and ({{ insert_when }}) then insert *
{%- endif %}
{% endmacro %}

{# Of changes that are merged in parts those that are new: what is inserted, apart. #}
{% macro new_rows_sql(into, changes, span=none) %}
    {%- set keys = config.require('unique_key') | join(', ') %}
with

changes as (

    select * from {{ changes }}

),

known as (

    select {{ keys }} from {{ into }} as t

    left semi join (select {{ keys }} from changes) using ({{ keys }})

    {%- if span %}

    where t.{{ span }}
    {%- endif %}

)

select s.* from changes as s

left anti join known using ({{ keys }})

where {{ config.meta_get('insert_when', 'true') }}
{% endmacro %}
