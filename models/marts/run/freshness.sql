with

positions as (

    select * from {{ ref('stg_state__log_positions') }}

),

polled as (

    select * from {{ ref('stg_run__polled_partitions') }}

),

settings as (

    select * from {{ ref('stg_run__settings') }}

),

parameters as (

    select * from {{ ref('stg_run__parameters') }}

),

{# A poll that brought nothing is in no table. What a poll saw is known from then on only if all was
   read up to the last stable offset that it saw. #}
looked_at as (

    select
        coalesce(polled.cluster_id, positions.cluster_id) as cluster_id,
        coalesce(polled.topic_name, positions.topic_name) as topic_name,
        coalesce(polled.partition_index, positions.partition_index)
            as partition_index,
        greatest(
            if(
                polled.next_offset >= polled.last_stable_offset,
                polled.polled_at_ms,
                null
            ),
            if(
                positions.next_offset >= positions.last_stable_offset,
                positions.polled_at_ms,
                null
            )
        ) as polled_at_ms,
        greatest(
            polled.last_stable_offset,
            positions.last_stable_offset
        ) as last_stable_offset,
        greatest(polled.high_watermark, positions.high_watermark)
            as high_watermark,
        greatest(polled.next_offset, positions.next_offset) as next_offset

    from positions

    full outer join polled
        on
            positions.cluster_id = polled.cluster_id
            and positions.topic_name = polled.topic_name
            and positions.partition_index = polled.partition_index

),

topics as (

    select
        cluster_id,
        topic_name,
        count(*) as partition_count,
        if(count(polled_at_ms) = count(*), min(polled_at_ms), null)
            as polled_at_ms,
        sum(greatest(high_watermark - next_offset, 0)) as offsets_behind,
        sum(greatest(high_watermark - last_stable_offset, 0))
            as hidden_offsets,
        count_if(high_watermark > last_stable_offset) as held_partition_count,
        min(if(high_watermark > last_stable_offset, partition_index, null))
            as held_partition_index

    from looked_at

    group by
        cluster_id,
        topic_name

),

freshness as (

    select
        topics.cluster_id,
        topics.topic_name,
        topics.partition_count,
        timestamp_millis(topics.polled_at_ms) as known_up_to_at,
        greatest(parameters.at_ms - topics.polled_at_ms, 0) as age_ms,
        coalesce(
            parameters.at_ms - topics.polled_at_ms
            > 2 * settings.check_interval_ms,
            topics.polled_at_ms is null
        ) as is_stale,
        cast(topics.offsets_behind as bigint) as offsets_behind,
        cast(topics.hidden_offsets as bigint) as hidden_offsets,
        topics.held_partition_count,
        topics.held_partition_index,
        if(topics.held_partition_count > 0, 'OPEN_TRANSACTION', null)
            as held_by

    from topics

    cross join parameters

    left join settings
        on topics.cluster_id = settings.cluster_id

)

select * from freshness
