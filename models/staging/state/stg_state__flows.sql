with

flows as (

    select * from {{ source('state', 'flows') }}

),

renamed as (

    select
        flow,
        source_cluster_id,
        target_cluster_id,
        ruleset,
        topics_pattern,
        topics_excluded_pattern,
        groups_pattern,
        groups_excluded_pattern,
        separator,
        syncs_cluster_id,
        syncs_topic_name,
        checkpoints_topic_name,
        keeps_topic_names,
        clamp_first,
        anchored,
        is_exactly_once,
        settings_hash,
        settings,
        valid_from_ms,
        valid_to_ms,
        run_id

    from flows

    where valid_to_ms is null

)

select * from renamed
