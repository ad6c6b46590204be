with

clusters as (

    select * from {{ ref('int_groups__clusters_configured') }}

),

state_groups as (

    select * from {{ ref('stg_state__groups') }}

),

decided as (

    select * from {{ ref('stg_decisions__cleanup_eligibility') }}

),

last_decided as (

    select
        cluster_id,
        max(run_id) as run_id

    from decided

    group by cluster_id

),

changed_since as (

    select
        state_groups.cluster_id,
        state_groups.group_id,
        'changed' as due_because

    from state_groups

    inner join clusters
        on state_groups.cluster_id = clusters.cluster_id

    left join last_decided
        on state_groups.cluster_id = last_decided.cluster_id

    where
        last_decided.run_id is null
        or state_groups.changed_in_run_id > last_decided.run_id
        or clusters.run_kind = 'compare'

),

come_due as (

    select
        decided.cluster_id,
        decided.group_id,
        'stale' as due_because

    from decided

    inner join clusters
        on decided.cluster_id = clusters.cluster_id

    where
        {{ is_decision_stale('decided', 'clusters') }}

),

groups_due as (

    select
        cluster_id,
        group_id,
        due_because

    from changed_since

    union all

    select
        cluster_id,
        group_id,
        due_because

    from come_due

)

select * from groups_due
