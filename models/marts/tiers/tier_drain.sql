with

tier_lag as (

    select * from {{ ref('tier_lag') }}

),

rates as (

    select * from {{ ref('int_tiers__rates_measured') }}

),

{# null = not at the pace of this window #}
drains_estimated as (

    select
        tier_lag.cluster_id,
        tier_lag.topic_id,
        tier_lag.partition_index,
        tier_lag.topic_name,
        tier_lag.broker_id,
        tier_lag.upload_tier_lag,
        tier_lag.delete_tier_lag_sum,
        rates.window_ms,
        rates.uploaded_segments,
        rates.uploaded_bytes,
        rates.uploaded_offsets,
        rates.arrived_offsets,
        rates.deleted_segments,
        rates.deleted_bytes,
        rates.deleted_offsets,
        rates.expired_offsets,
        case
            when tier_lag.upload_tier_lag = 0 then 0
            when rates.uploaded_offsets > rates.arrived_offsets
                then
                    ceil(
                        tier_lag.upload_tier_lag * (
                            rates.window_ms
                            / (rates.uploaded_offsets - rates.arrived_offsets)
                        )
                    )
        end as upload_drain_ms,
        case
            when tier_lag.delete_tier_lag_sum = 0 then 0
            when rates.deleted_offsets > rates.expired_offsets
                then
                    ceil(
                        tier_lag.delete_tier_lag_sum * (
                            rates.window_ms
                            / (rates.deleted_offsets - rates.expired_offsets)
                        )
                    )
        end as delete_drain_ms

    from tier_lag

    left join rates using (cluster_id, topic_id, partition_index)

),

tier_drain as (

    select
        cluster_id,
        topic_id,
        partition_index,
        any_value(topic_name) as topic_name,
        any_value(broker_id) as broker_id,
        any_value(upload_tier_lag) as upload_tier_lag,
        min(upload_drain_ms) as upload_drain_low_ms,
        if(
            bool_and(upload_drain_ms is not null), max(upload_drain_ms), null
        ) as upload_drain_high_ms,
        case
            when any_value(upload_tier_lag) is null then 'unknown'
            when any_value(upload_tier_lag) = 0 then 'nothing pending'
            when bool_and(upload_drain_ms is not null) then 'drains'
            when min(upload_drain_ms) is not null then 'may drain'
            else 'never'
        end as upload_outlook,
        coalesce(max_by(uploaded_offsets, window_ms), 0) / 3600
            as uploaded_offsets_per_second,
        coalesce(max_by(uploaded_bytes, window_ms), 0) / 3600
            as uploaded_bytes_per_second,
        coalesce(max_by(uploaded_segments, window_ms), 0) / 3600
            as uploaded_segments_per_second,
        coalesce(max_by(arrived_offsets, window_ms), 0) / 3600
            as arrived_offsets_per_second,
        any_value(delete_tier_lag_sum) as delete_tier_lag_sum,
        min(delete_drain_ms) as delete_drain_low_ms,
        if(
            bool_and(delete_drain_ms is not null), max(delete_drain_ms), null
        ) as delete_drain_high_ms,
        case
            when any_value(delete_tier_lag_sum) is null then 'unknown'
            when any_value(delete_tier_lag_sum) = 0 then 'nothing pending'
            when bool_and(delete_drain_ms is not null) then 'drains'
            when min(delete_drain_ms) is not null then 'may drain'
            else 'never'
        end as delete_outlook,
        coalesce(max_by(deleted_offsets, window_ms), 0) / 3600
            as deleted_offsets_per_second,
        coalesce(max_by(deleted_bytes, window_ms), 0) / 3600
            as deleted_bytes_per_second,
        coalesce(max_by(deleted_segments, window_ms), 0) / 3600
            as deleted_segments_per_second,
        coalesce(max_by(expired_offsets, window_ms), 0) / 3600
            as expired_offsets_per_second

    from drains_estimated

    group by
        cluster_id,
        topic_id,
        partition_index

)

select * from tier_drain
