{# dbt-spark's, but that a whole run makes only what it reads. #}
{% materialization view, adapter='moldau' %}
    {%- if is_unread() -%}
        {%- do store_raw_result('main', message='SKIP not read', code='SKIP', rows_affected=0) -%}
        {{ return({'relations': []}) }}
    {%- endif -%}
    {{ return(create_or_replace_view()) }}
{% endmaterialization %}
