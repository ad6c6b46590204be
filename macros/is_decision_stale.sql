{# A stored decision must be made anew though its subject did not change: other settings or rules, its time has come,
   or the clock was set back. #}
{% macro is_decision_stale(decided, clusters) %}
    {{ decided }}.settings_hash <> {{ clusters }}.settings_hash
    or {{ decided }}.ruleset <> {{ clusters }}.ruleset
    or {{ decided }}.next_due_at_ms <= {{ clusters }}.decided_at_ms
    or {{ decided }}.decided_at_ms > {{ clusters }}.decided_at_ms
{% endmacro %}
