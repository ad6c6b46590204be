{# The columns that the decisions about requests have in common. A request is decided once: there is nothing before it. #}
{% macro request_decision_columns() %}
        cluster_id,
        request_id,
        group_id,
        received_at_ms,
        run_id,
        ruleset,
        decision,
        reason_code,
        cast(null as string) as previous_decision,
        cast(null as string) as previous_reason_code,
        run_id as changed_in_run_id,
        decided_at_ms,
        is_dry_run
{%- endmacro %}

{# The same of the stored ones, in the shape of all of them: which request, of which kind, and the back-off after it. #}
{% macro request_columns() %}
        request_id,
        received_at_ms,
        backoff
{%- endmacro %}
