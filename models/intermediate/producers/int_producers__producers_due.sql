{{ config(materialized='run_list') }}

with

producers as (

    select * from {{ ref('int_producers__producers_configured') }}

),

decided as (

    select * from {{ ref('stg_decisions__metadata_rounds') }}

),

clusters as (

    select * from {{ ref('int_producers__clusters_configured') }}

),

last_runs as (

    select * from {{ ref('int_producers__last_runs') }}

),

{# `=`: that run applied what it had decided, or was killed when it had #}
known as (

    select
        producers.cluster_id,
        producers.producer_id

    from producers

    left join last_runs using (cluster_id)

    left join decided
        on
            producers.cluster_id = decided.cluster_id
            and producers.producer_id = decided.producer_id

    where
        last_runs.run_id is null
        or decided.producer_id is null
        or producers.changed_in_run_id >= last_runs.run_id
        or decided.run_id = producers.run_id
        or producers.run_kind = 'compare'
        or {{ is_decision_stale('decided', 'producers') }}

),

gone as (

    select
        decided.cluster_id,
        decided.producer_id

    from decided

    inner join clusters using (cluster_id)

    left anti join producers
        on
            decided.cluster_id = producers.cluster_id
            and decided.producer_id = producers.producer_id

),

producers_due as (

    select * from known

    union all

    select * from gone

)

select * from producers_due
