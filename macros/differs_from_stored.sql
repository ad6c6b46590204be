{# For a merge of decisions: the row says something else than the stored one, or was made under other settings or on a
   clock that was set back. Big tables are spared a copy of every file in which nothing changed. #}
{% macro differs_from_stored(own_columns) %}
    {{ return(differs(['decision', 'reason_code', 'ruleset', 'settings_hash', 'next_due_at_ms'] + own_columns) ~ ' or t.decided_at_ms > s.decided_at_ms') }}
{% endmacro %}
