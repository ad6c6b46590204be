{# The groups whose decisions are to be made anew, and why. `state_groups`: relation like state.groups; `decided`: the
   stored decisions about them; `clusters`: those in scope. #}
{% macro groups_due(state_groups, decided, clusters) %}
last_decided as (

    select
        cluster_id,
        max(run_id) as run_id

    from {{ decided }} as decided

    group by cluster_id

),

changed_since as (

    select
        state_groups.cluster_id,
        state_groups.group_id,
        'changed' as due_because

    from {{ state_groups }} as state_groups

    inner join {{ clusters }} as clusters
        on state_groups.cluster_id = clusters.cluster_id

    left join last_decided
        on state_groups.cluster_id = last_decided.cluster_id

    left join {{ decided }} as decided
        on
            state_groups.cluster_id = decided.cluster_id
            and state_groups.group_id = decided.group_id

    {# `=`: that run applied what it had decided. A live group without a decision: a run was killed before it inserted the new ones #}
    where
        last_decided.run_id is null
        or state_groups.changed_in_run_id >= last_decided.run_id
        or (decided.group_id is null and not state_groups.is_deleted)
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
