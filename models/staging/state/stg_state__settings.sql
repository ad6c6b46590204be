with

settings as (

    select * from {{ source('state', 'settings') }}

),

renamed as (

    select
        cluster_id,
        authority,
        {{ rulesets_by_domain() }} as rulesets,
        has_plugin,
        plugin_name,
        offsets_retention_ms,
        check_interval_ms,
        settings_hash,
        settings,
        valid_from_ms,
        valid_to_ms,
        run_id

    from settings

    where valid_to_ms is null

)

select * from renamed
