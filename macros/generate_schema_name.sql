{# A schema is a layer: the custom name alone, never prefixed by the target's. #}
{% macro generate_schema_name(custom_schema_name, node) %}
    {{ return(custom_schema_name or target.schema) }}
{% endmacro %}
