with

versions as (

    select * from {{ ref('stg_state__settings_versions') }}

),

first_versions as (

    select
        cluster_id,
        min(valid_from_ms) as valid_from_ms

    from versions

    group by cluster_id

),

settings_in_force as (

    select
        cluster_id,
        valid_from_ms,
        coalesce(valid_to_ms, 9223372036854775807) as valid_to_ms,
        offsets_retention_ms,
        check_interval_ms

    from versions

    union all

    select
        versions.cluster_id,
        -9223372036854775807 as valid_from_ms,
        first_versions.valid_from_ms as valid_to_ms,
        versions.offsets_retention_ms,
        versions.check_interval_ms

    from versions

    inner join first_versions using (cluster_id)

    where versions.valid_to_ms is null

)

select * from settings_in_force
