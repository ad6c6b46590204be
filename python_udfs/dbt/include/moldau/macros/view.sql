{# dbt-spark's, but that a whole run makes only what it reads. It stands here, for dbt takes a package's word for a
   materialization of its own from adapters alone. #}
{% materialization view, adapter='moldau' %}
    {%- if adapter.is_unread(model.unique_id) -%}
        {%- do store_raw_result('main', message='SKIP not read', code='SKIP', rows_affected=0) -%}
        {{ return({'relations': []}) }}
    {%- endif -%}
    {{ return(create_or_replace_view()) }}
{% endmaterialization %}
