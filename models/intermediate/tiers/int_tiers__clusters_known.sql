with

clusters as (

    select * from {{ ref('int_tiers__clusters_configured') }}

),

settings as (

    select * from {{ ref('stg_run__settings') }}

),

settings_versions as (

    select * from {{ ref('stg_state__settings_versions') }}

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

    inner join settings using (cluster_id)

),

clusters_elsewhere as (

    select
        last_runs.cluster_id,
        last_runs.decided_at_ms,
        settings_versions.settings

    from last_runs

    inner join settings_versions using (cluster_id)

    left anti join clusters using (cluster_id)

    where {{ is_in_force('settings_versions', 'last_runs.run_id') }}

),

clusters_known as (

    select * from clusters_in_scope

    union all

    select * from clusters_elsewhere

)

select * from clusters_known
