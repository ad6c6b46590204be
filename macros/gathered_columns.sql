{# What marts.decisions takes from the decisions of every domain. #}
{% macro gathered_columns() %}
        decision,
        reason_code,
        previous_decision,
        previous_reason_code,
        ruleset,
        run_id,
        changed_in_run_id,
        decided_at_ms
{%- endmacro %}
