{{ config(materialized='run_list', meta={'as_literals': true}) }}

with

settings as (

    select * from {{ ref('stg_run__settings') }}

),

parameters as (

    select * from {{ ref('stg_run__parameters') }}

),

clusters_configured as (

    select
        settings.cluster_id,
        parameters.run_id,
        parameters.kind as run_kind,
        settings.authority = 'moldau'
        and parameters.is_open
        and not parameters.is_dry_run as is_applied,
        parameters.at_ms as decided_at_ms

    from settings

    cross join parameters

    where
        parameters.cluster_ids is null
        or array_contains(parameters.cluster_ids, settings.cluster_id)

)

select * from clusters_configured
