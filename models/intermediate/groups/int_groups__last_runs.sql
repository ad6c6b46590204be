with

runs as (

    select
        run_id,
        kind,
        explode(cluster_ids) as cluster_id

    from {{ ref('stg_state__runs') }}

    where
        kind in ('cycle', 'sweep')
        and status = 'succeeded'

),

last_runs as (

    select
        cluster_id,
        kind,
        max(run_id) as run_id

    from runs

    group by
        cluster_id,
        kind

)

select * from last_runs
