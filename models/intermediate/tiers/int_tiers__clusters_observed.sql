with

settings as (

    select * from {{ ref('stg_state__settings') }}

),

runs as (

    select * from {{ ref('stg_state__runs') }}

    where
        kind = 'tiers'
        and status = 'succeeded'

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
        explode(cluster_ids) as cluster_id,
        decided_at_ms

    from runs

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
        coalesce(
            cast(
                try_element_at(
                    from_json(settings.settings, 'map<string, string>'),
                    'remote.log.manager.task.interval.ms'
                ) as bigint
            ),
            30000
        ) as task_interval_ms

    from last_instants

    left join settings
        on last_instants.cluster_id = settings.cluster_id

)

select * from clusters_observed
