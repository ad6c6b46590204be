{# The groups whose decisions are to be made anew, and why. `state_groups`: relation like state.groups; `decided`: the
   stored decisions about them; `clusters`: those in scope; `last_runs`: runs of the kinds that decide; `kind`: this one's;
   `has_decision`: condition on a group that gets one. But for that run, what is due follows from the row of a group and that
   of its decision, from nothing else: see `changes_of` in the list's YAML. #}
{% macro groups_due(state_groups, decided, clusters, last_runs, kind, has_decision='true') %}
changed_since as (

    select
        state_groups.cluster_id,
        state_groups.group_id,
        'changed' as due_because

    from {{ state_groups }} as state_groups

    inner join {{ clusters }} as clusters
        on state_groups.cluster_id = clusters.cluster_id

    left join {{ decided }} as decided
        on
            state_groups.cluster_id = decided.cluster_id
            and state_groups.group_id = decided.group_id

    left join {{ last_runs }} as last_runs
        on
            state_groups.cluster_id = last_runs.cluster_id
            and last_runs.kind = '{{ kind }}'

    {# a decision that says the same again keeps its run, so the last one counts, too. `=`: that run applied what it had decided.
       Without a decision: the group is new, or a run was killed before it inserted the new ones #}
    where
        (
            state_groups.changed_in_run_id >= decided.run_id
            and state_groups.changed_in_run_id >= coalesce(last_runs.run_id, '')
        )
        or (decided.group_id is null and {{ has_decision }})
        or clusters.run_kind = 'compare'

),

come_due as (

    select
        decided.cluster_id,
        decided.group_id,
        'stale' as due_because

    from {{ decided }} as decided

    inner join {{ clusters }} as clusters
        on decided.cluster_id = clusters.cluster_id

    where
        {{ is_decision_stale('decided', 'clusters') }}

),

groups_due as (

    select * from changed_since

    union all

    select * from come_due

)
{% endmacro %}
