{# The columns that history.decision_changes takes from a decisions table. #}
{% macro decision_change_columns() %}
        changed_in_run_id,
        decision,
        reason_code,
        previous_decision,
        previous_reason_code,
        ruleset,
        decided_at_ms
{% endmacro %}
