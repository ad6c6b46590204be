{# Of int_mirrors__flows_configured: a load folds what is of one of its clusters, and what a new flow begins with. #}
{% macro flow_is_folded() %}is_in_scope or is_refolded{% endmacro %}
