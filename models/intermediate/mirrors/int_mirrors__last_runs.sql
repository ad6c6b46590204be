{{ config(materialized='run_list', meta={'as_literals': true}) }}

with

flows as (

    select * from {{ ref('int_mirrors__flows_configured') }}

    where is_in_scope

),

runs as (

    select
        run_id,
        cluster_ids

    from {{ ref('stg_state__runs') }}

    where
        kind = 'translate'
        and status = 'succeeded'

),

last_runs as (

    select
        flows.flow,
        max(runs.run_id) as run_id

    from flows

    inner join runs
        on
            array_contains(runs.cluster_ids, flows.source_cluster_id)
            or array_contains(runs.cluster_ids, flows.target_cluster_id)

    group by flows.flow

)

select * from last_runs
