with

runs as (

    select
        run_id,
        explode(cluster_ids) as cluster_id

    from {{ ref('stg_state__runs') }}

    where
        kind = 'metadata'
        and status = 'succeeded'

),

last_runs as (

    select
        cluster_id,
        max(run_id) as run_id

    from runs

    group by cluster_id

)

select * from last_runs
