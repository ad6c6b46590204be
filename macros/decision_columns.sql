{# The columns that every decisions table has. #}
{% macro decision_columns() %}
        cluster_id,
        group_id,
        run_id,
        ruleset,
        decision,
        reason_code,
        previous_decision,
        previous_reason_code,
        changed_in_run_id,
        decided_at_ms
{% endmacro %}
