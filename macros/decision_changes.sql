{# The columns that tell how a decision came about: `new` is the decision of this run, `old` the stored one. #}
{% macro changed_in_run_id(new, old) %}
    if({{ is_decision_changed(new, old) }}, {{ new }}.run_id, {{ old }}.changed_in_run_id)
{% endmacro %}

{% macro previous_decision(new, old) %}
    if({{ is_decision_changed(new, old) }}, {{ old }}.decision, {{ old }}.previous_decision)
{% endmacro %}

{% macro previous_reason_code(new, old) %}
    if({{ is_decision_changed(new, old) }}, {{ old }}.reason_code, {{ old }}.previous_reason_code)
{% endmacro %}

{% macro is_decision_changed(new, old) %}
    not ({{ new }}.decision <=> {{ old }}.decision and {{ new }}.reason_code <=> {{ old }}.reason_code)
{% endmacro %}
