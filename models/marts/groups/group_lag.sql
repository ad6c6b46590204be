with

lag_compared as (

    select * from {{ ref('int_groups__lag_compared') }}

),

ends_known as (

    select
        *,
        {# an offset of another topic is no place in this log #}
        if(is_topic_recreated, null, committed_offset) as own_offset

    from {{ ref('int_groups__partitions_compared') }}

),

lag_counted as (

    select
        *,
        case
            when is_topic_gone then 'TOPIC_GONE'
            when is_topic_recreated then 'TOPIC_RECREATED'
            when high_watermark is null then 'NO_END_KNOWN'
            when is_unsubscribed then 'NOT_SUBSCRIBED'
            when committed_offset is null then 'NO_COMMIT'
            when committed_offset < log_start_offset then 'COMMIT_BEFORE_START'
            when committed_offset > high_watermark then 'COMMIT_AHEAD_OF_END'
            else 'OK'
        end as status,
        case
            when own_offset < high_watermark then high_watermark - own_offset
            when own_offset >= high_watermark then 0
        end as lag

    from ends_known

),

group_lag as (

    select
        counted.cluster_id,
        counted.group_id,
        counted.topic_name,
        counted.partition_index,
        counted.status,
        counted.committed_offset,
        counted.log_start_offset,
        counted.last_stable_offset,
        counted.high_watermark,
        counted.log_end_offset,
        counted.lag,
        case
            when counted.own_offset >= counted.last_stable_offset then 0
            when counted.own_offset >= counted.log_start_offset
                then counted.last_stable_offset - counted.own_offset
            when counted.own_offset < counted.log_start_offset
                then if(
                    counted.log_start_offset >= counted.last_stable_offset,
                    0,
                    counted.last_stable_offset - counted.log_start_offset
                )
        end as records_to_read,
        compared.lag_seconds,
        compared.lag_seconds_at_least,
        case
            when compared.lag_then is null then null
            when counted.lag < compared.lag_then then 'SHRINKING'
            when counted.lag = compared.lag_then then 'STEADY'
            {# of who stands still only the end has moved #}
            when counted.committed_offset = compared.offset_then then 'STOPPED'
            else 'GROWING'
        end as trend,
        compared.offset_then,
        compared.lag_then,
        counted.committed_at_ms,
        {{ instant('counted.committed_at_ms') }} as committed_at,
        {{ instant('counted.taken_at_ms') }} as end_taken_at,
        {{ instant('compared.then_at_ms') }} as then_at,
        {{ instant('compared.lost_from_at_ms') }} as lost_from_at

    from lag_counted as counted

    left join lag_compared as compared
        using (cluster_id, group_id, topic_name, partition_index)

)

select * from group_lag
