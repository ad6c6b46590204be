with

settings as (

    select * from {{ ref('stg_state__settings') }}

),

last_runs as (

    select * from {{ ref('int_tiers__last_runs') }}

),

upload_candidates as (

    select * from {{ ref('int_tiers__upload_candidates_decided') }}

),

delete_candidates as (

    select * from {{ ref('int_tiers__delete_candidates_decided') }}

),

{# what did not change is not decided anew; a plain `dbt run` has no row #}
instants as (

    select
        run_id,
        cluster_id,
        decided_at_ms

    from last_runs

    union all

    select
        run_id,
        cluster_id,
        decided_at_ms

    from upload_candidates

    union all

    select
        run_id,
        cluster_id,
        decided_at_ms

    from delete_candidates

),

last_instants as (

    select
        cluster_id,
        max_by(decided_at_ms, run_id) as at_ms

    from instants

    group by cluster_id

),

clusters_observed as (

    select
        last_instants.cluster_id,
        last_instants.at_ms,
        {{ task_interval_ms('settings.settings') }} as task_interval_ms

    from last_instants

    left join settings using (cluster_id)

)

select * from clusters_observed
