with

clusters as (

    select * from {{ ref('int_tiers__clusters_configured') }}

),

settings as (

    select * from {{ ref('stg_run__settings') }}

),

settings_in_force as (

    select * from {{ ref('stg_state__settings') }}

),

last_runs as (

    select * from {{ ref('int_tiers__last_runs') }}

),

clusters_in_scope as (

    select
        clusters.cluster_id,
        clusters.decided_at_ms,
        settings.settings

    from clusters

    inner join settings
        on clusters.cluster_id = settings.cluster_id

),

clusters_elsewhere as (

    select
        last_runs.cluster_id,
        last_runs.decided_at_ms,
        settings_in_force.settings

    from last_runs

    inner join settings_in_force
        on last_runs.cluster_id = settings_in_force.cluster_id

    left anti join clusters
        on last_runs.cluster_id = clusters.cluster_id

),

clusters_known as (

    select * from clusters_in_scope

    union all

    select * from clusters_elsewhere

)

select * from clusters_known
