{{ config(materialized='run_list') }}

with

clusters as (

    select * from {{ ref('int_tiers__clusters_known') }}

),

topic_configs as (

    select * from {{ ref('stg_state__topic_configs') }}

),

settings as (

    select
        cluster_id,
        from_json(settings, 'map<string, string>') as broker_configs,
        from_json(
            get_json_object(settings, '$.topics'),
            'map<string, map<string, string>>'
        ) as topics

    from clusters

),

topics_known as (

    select distinct
        cluster_id,
        topic_id,
        topic_name

    from {{ ref('stg_state__partition_states') }}

    where topic_id is not null

),

configs_in_force as (

    select
        topic_configs.cluster_id,
        topic_configs.topic_id,
        max_by(topic_configs.configs, topic_configs.valid_from_ms) filter (
            where topic_configs.valid_from_ms <= clusters.decided_at_ms
        ) as configs,
        max(topic_configs.valid_from_ms) filter (
            where topic_configs.valid_from_ms <= clusters.decided_at_ms
        ) as configs_from_ms,
        min(topic_configs.valid_from_ms) filter (
            where topic_configs.valid_from_ms > clusters.decided_at_ms
        ) as next_config_at_ms

    from topic_configs

    inner join clusters using (cluster_id)

    group by
        topic_configs.cluster_id,
        topic_configs.topic_id

),

topics as (

    select
        topics_known.cluster_id,
        topics_known.topic_id,
        topics_known.topic_name,
        configs_in_force.next_config_at_ms,
        if(
            try_element_at(settings.topics, topics_known.topic_name) is null,
            configs_in_force.configs_from_ms,
            null
        ) as configs_from_ms,
        configs_in_force.configs is not null
        or try_element_at(settings.topics, topics_known.topic_name) is not null
            as has_configs,
        {# what moldau.yml says holds, then what was loaded #}
        map_concat(
            map_filter(
                coalesce(
                    configs_in_force.configs,
                    cast(map() as map<string, string>)  -- noqa: LT01
                ),
                (name, value) -> not coalesce(
                    array_contains(
                        map_keys(
                            try_element_at(settings.topics, topics_known.topic_name)
                        ),
                        name
                    ),
                    false
                )
            ),
            coalesce(
                try_element_at(settings.topics, topics_known.topic_name),
                cast(map() as map<string, string>)  -- noqa: LT01
            )
        ) as configs,
        settings.broker_configs

    from topics_known

    inner join settings using (cluster_id)

    left join configs_in_force using (cluster_id, topic_id)

),

{# of a topic that nobody tells of, what lies in tiered storage tells #}
topics_in_remote_storage as (

    select distinct
        cluster_id,
        topic_id,
        true as is_in_remote_storage

    from {{ ref('stg_state__remote_segments') }}

    where segment_state <> 'DELETE_SEGMENT_FINISHED'

),

configs_typed as (

    select
        cluster_id,
        topic_id,
        topic_name,
        has_configs,
        next_config_at_ms,
        configs_from_ms,
        {{ topic_config(
            'remote.storage.enable', '', 'false', 'boolean'
        ) }} as remote_storage_enable,
        {{ topic_config(
            '', 'remote.log.storage.system.enable', 'true', 'boolean'
        ) }} as system_enable,
        {{ topic_config(
            'remote.log.copy.disable', '', 'false', 'boolean'
        ) }} as is_copy_disabled,
        {{ topic_config(
            'remote.log.delete.on.disable', '', 'false', 'boolean'
        ) }} as is_deleted_on_disable,
        {{ topic_config(
            'cleanup.policy', 'log.cleanup.policy', 'delete', 'string'
        ) }} as cleanup_policy,
        {{ topic_config(
            'retention.ms', 'log.retention.ms', '604800000', 'bigint'
        ) }} as retention_ms,
        {{ topic_config(
            'retention.bytes', 'log.retention.bytes', '-1', 'bigint'
        ) }} as retention_bytes,
        {{ topic_config(
            'local.retention.ms', 'log.local.retention.ms', '-2', 'bigint'
        ) }} as local_retention_ms,
        {{ topic_config(
            'local.retention.bytes', 'log.local.retention.bytes', '-2', 'bigint'
        ) }} as local_retention_bytes,
        {{ topic_config(
            'remote.copy.lag.ms', 'log.remote.copy.lag.ms', '0', 'bigint'
        ) }} as copy_lag_ms,
        {{ topic_config(
            'remote.copy.lag.bytes', 'log.remote.copy.lag.bytes', '-1', 'bigint'
        ) }} as copy_lag_bytes

    from topics

),

local_retention_resolved as (

    select
        *,
        if(local_retention_ms = -2, retention_ms, local_retention_ms)
            as effective_local_retention_ms,
        if(local_retention_bytes = -2, retention_bytes, local_retention_bytes)
            as effective_local_retention_bytes

    from configs_typed

),

topics_configured as (

    select
        resolved.cluster_id,
        resolved.topic_id,
        resolved.topic_name,
        resolved.has_configs,
        resolved.system_enable
        and resolved.cleanup_policy not like '%compact%'
        and (
            resolved.remote_storage_enable
            or (
                not resolved.has_configs
                and coalesce(
                    topics_in_remote_storage.is_in_remote_storage, false
                )
            )
        )
        and resolved.topic_name not in (
            '__consumer_offsets',
            '__transaction_state',
            '__share_group_state',
            '__remote_log_metadata',
            '__cluster_metadata'
        ) as is_tiered,
        resolved.is_copy_disabled,
        resolved.is_deleted_on_disable,
        resolved.retention_ms,
        resolved.retention_bytes,
        resolved.effective_local_retention_ms as local_retention_ms,
        resolved.effective_local_retention_bytes as local_retention_bytes,
        if(
            resolved.copy_lag_ms = -1,
            resolved.effective_local_retention_ms,
            resolved.copy_lag_ms
        ) as copy_lag_ms,
        if(
            resolved.copy_lag_bytes = -1,
            resolved.effective_local_retention_bytes,
            resolved.copy_lag_bytes
        ) as copy_lag_bytes,
        resolved.configs_from_ms,
        resolved.next_config_at_ms

    from local_retention_resolved as resolved

    left join topics_in_remote_storage using (cluster_id, topic_id)

)

select * from topics_configured
