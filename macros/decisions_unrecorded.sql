{# Decisions that changed and are not in history.decision_changes yet. `decisions`: those of a domain;
   `runs`, `changes`: relations like state.runs and history.decision_changes; `kinds`: the kinds of runs that decide them. #}
{% macro decisions_unrecorded(decisions, runs, changes, kinds) %}
{# the run itself has no row yet; a plain `dbt run` never has one, and what
   it left unrecorded when it was killed comes with the next run #}
last_decided as (

    select coalesce(max(runs.run_id), '') as run_id

    from {{ runs }} as runs

    where
        runs.kind in ('{{ kinds | join("', '") }}')
        and runs.status = 'succeeded'

),

{# a run that was killed half-way is finished under its own id #}
recorded as (

    select * from {{ changes }}

    where run_id > (select last_decided.run_id from last_decided)

),

decisions_unrecorded as (

    select
        decisions.domain,
        decisions.cluster_id,
        decisions.subject,
        decisions.changed_in_run_id as run_id,
        decisions.decision,
        decisions.reason_code,
        decisions.previous_decision,
        decisions.previous_reason_code,
        decisions.ruleset,
        decisions.decided_at_ms

    from {{ decisions }} as decisions

    left anti join recorded
        on
            decisions.domain = recorded.domain
            and decisions.cluster_id = recorded.cluster_id
            and decisions.subject = recorded.subject
            and decisions.changed_in_run_id = recorded.run_id

    where
        decisions.changed_in_run_id
        > (select last_decided.run_id from last_decided)

)
{% endmacro %}
