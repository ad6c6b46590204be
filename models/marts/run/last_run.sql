with

runs as (

    select * from {{ ref('stg_state__runs') }}

),

runs_ranked as (

    select
        *,
        row_number() over (partition by kind order by run_id desc) as recency

    from runs

),

last_run as (

    select
        kind,
        run_id,
        cluster_ids,
        status,
        is_dry_run,
        timestamp_millis(decided_at_ms) as decided_at,
        timestamp_millis(started_at_ms) as started_at,
        timestamp_millis(finished_at_ms) as finished_at,
        counts,
        engine

    from runs_ranked

    where recency = 1

)

select * from last_run
