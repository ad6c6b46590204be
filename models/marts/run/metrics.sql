with

metric_names as (

    select * from {{ ref('metric_names') }}

    where domain = 'groups'

),

gauge_names as (

    select * from {{ ref('metric_names') }}

    where domain = 'tiers'

),

tier_lag as (

    select * from {{ ref('tier_lag') }}

),

settings as (

    select * from {{ ref('stg_state__settings') }}

),

recorded as (

    select * from {{ ref('int_groups__metrics_recorded') }}

),

measured as (

    select at_ms as measured_at_ms

    from {{ ref('stg_run__parameters') }}

),

clusters as (

    select distinct cluster_id

    from settings

),

summed as (

    select
        recorded.cluster_id,
        recorded.sensor,
        count(*) as recorded_in_all,
        count_if(
            recorded.recorded_at_ms > measured.measured_at_ms - 60000
            and recorded.recorded_at_ms <= measured.measured_at_ms
        ) as recorded_in_60_s

    from recorded

    cross join measured

    group by
        recorded.cluster_id,
        recorded.sensor

),

of_groups as (

    select
        clusters.cluster_id,
        metric_names.mbean,
        metric_names.metric_name,
        cast(map() as map<string, string>) as tags,  -- noqa: LT01
        measured.measured_at_ms,
        cast(
            coalesce(
                if(
                    metric_names.stat = 'count',
                    summed.recorded_in_all,
                    summed.recorded_in_60_s / 60
                ),
                0
            ) as double
        ) as value,  -- noqa: RF04
        timestamp_millis(measured.measured_at_ms) as measured_at

    from clusters

    cross join metric_names

    cross join measured

    left join summed
        on
            clusters.cluster_id = summed.cluster_id
            and metric_names.sensor = summed.sensor

),

of_tiers as (

    select
        tier_lag.cluster_id,
        gauge_names.mbean,
        gauge_names.metric_name,
        map(
            'topic', tier_lag.topic_name,
            'partition', cast(tier_lag.partition_index as string)
        ) as tags,
        measured.measured_at_ms,
        cast(
            if(
                gauge_names.sensor = 'upload-tier-lag',
                tier_lag.upload_tier_lag,
                tier_lag.delete_tier_lag
            ) as double
        ) as value,  -- noqa: RF04
        timestamp_millis(measured.measured_at_ms) as measured_at

    from tier_lag

    cross join gauge_names

    cross join measured

    {# a broker tells of what it leads, so not of a topic that was deleted #}
    where tier_lag.broker_id is not null

),

metrics as (

    select * from of_groups

    union all

    select * from of_tiers

    where value is not null

)

select * from metrics
