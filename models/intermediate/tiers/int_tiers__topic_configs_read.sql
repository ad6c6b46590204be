with

clusters as (

    select * from {{ ref('int_tiers__clusters_known') }}

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

topics as (

    select distinct
        cluster_id,
        topic_id,
        topic_name

    from {{ ref('stg_state__partition_states') }}

    where topic_id is not null

),

topic_configs as (

    select * from {{ ref('stg_state__topic_configs') }}

),

configs_in_force as (

    select
        topic_configs.cluster_id,
        topic_configs.topic_id,
        max_by(
            if(
                topic_configs.valid_from_ms <= clusters.decided_at_ms,
                topic_configs.configs,
                null
            ),
            if(
                topic_configs.valid_from_ms <= clusters.decided_at_ms,
                topic_configs.valid_from_ms,
                null
            )
        ) as configs,
        min(
            if(
                topic_configs.valid_from_ms > clusters.decided_at_ms,
                topic_configs.valid_from_ms,
                null
            )
        ) as next_config_at_ms

    from topic_configs

    inner join clusters using (cluster_id)

    group by
        topic_configs.cluster_id,
        topic_configs.topic_id

),

topic_configs_read as (

    select
        topics.cluster_id,
        topics.topic_id,
        topics.topic_name,
        configs_in_force.next_config_at_ms,
        configs_in_force.configs is not null
        or try_element_at(settings.topics, topics.topic_name) is not null
            as is_told,
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
                            try_element_at(settings.topics, topics.topic_name)
                        ),
                        name
                    ),
                    false
                )
            ),
            coalesce(
                try_element_at(settings.topics, topics.topic_name),
                cast(map() as map<string, string>)  -- noqa: LT01
            )
        ) as configs,
        settings.broker_configs

    from topics

    inner join settings using (cluster_id)

    left join configs_in_force using (cluster_id, topic_id)

)

select * from topic_configs_read
