{{ config(materialized='run_list', meta={'as_literals': true}) }}

with

runs as (

    select
        run_id,
        decided_at_ms,
        explode(cluster_ids) as cluster_id

    from {{ ref('stg_state__runs') }}

    where
        kind = 'tiers'
        and status = 'succeeded'

),

last_runs as (

    select
        cluster_id,
        max(run_id) as run_id,
        max_by(decided_at_ms, run_id) as decided_at_ms

    from runs

    group by cluster_id

)

select * from last_runs
