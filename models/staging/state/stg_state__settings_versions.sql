with

settings as (

    select * from {{ source('state', 'settings') }}

),

versions as (

    select
        cluster_id,
        authority,
        has_plugin,
        offsets_retention_ms,
        check_interval_ms,
        settings,
        {{ rulesets_by_domain() }} as rulesets,
        valid_from_ms,
        valid_to_ms,
        run_id as from_run_id,
        lead(run_id)
            over (partition by cluster_id order by valid_from_ms)
            as until_run_id

    from settings

)

select * from versions
