{# What becomes of the decisions about what is due: each with what it was before. `due`: relation of what is due, by the
   columns `due_by`; `reasoned`: the decisions about it in this run; `stored`: every decision of before. A stored decision
   whose subject has gone is told once more, to be deleted. #}
{% macro changes_found(due, reasoned, stored, key, own_columns, due_by) %}
decided as (

    select stored.*

    from {{ stored }} as stored

    left semi join {{ due }} as due
        on
            {%- for column in due_by %}
            {{ 'and ' if not loop.first }}stored.{{ column }} = due.{{ column }}
            {%- endfor %}

),

changes_found as (

    select
        {%- for column in key %}
        coalesce(reasoned.{{ column }}, decided.{{ column }}) as {{ column }},
        {%- endfor %}
        reasoned.run_id,
        reasoned.ruleset,
        reasoned.settings_hash,
        reasoned.decision,
        reasoned.reason_code,
        if({{ is_decision_changed('reasoned', 'decided') }}, decided.decision, decided.previous_decision)
            as previous_decision,
        if({{ is_decision_changed('reasoned', 'decided') }}, decided.reason_code, decided.previous_reason_code)
            as previous_reason_code,
        if({{ is_decision_changed('reasoned', 'decided') }}, reasoned.run_id, decided.changed_in_run_id)
            as changed_in_run_id,
        reasoned.decided_at_ms,
        {%- for column in own_columns %}
        reasoned.{{ column }},
        {%- endfor %}
        reasoned.run_id is null as is_gone

    from {{ reasoned }} as reasoned

    full outer join decided
        on
            {%- for column in key %}
            {{ 'and ' if not loop.first }}reasoned.{{ column }} = decided.{{ column }}
            {%- endfor %}

)
{% endmacro %}

{# Decision or reason differ from the stored ones, or there are none. #}
{% macro is_decision_changed(new, old) -%}
    not ({{ new }}.decision <=> {{ old }}.decision and {{ new }}.reason_code <=> {{ old }}.reason_code)
{%- endmacro %}
