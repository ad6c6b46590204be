with

partitions_followed as (

    select * from {{ ref('int_groups__partitions_followed') }}

),

partitions_told as (

    select * from {{ ref('int_groups__partitions_told') }}

),

topics_told as (

    select
        cluster_id,
        topic_name,
        collect_set(topic_id) as topic_ids

    from partitions_told

    group by
        cluster_id,
        topic_name

),

clusters_told as (

    select distinct cluster_id

    from topics_told

),

partitions_compared as (

    select
        followed.*,
        told.log_start_offset,
        told.last_stable_offset,
        told.high_watermark,
        told.log_end_offset,
        told.taken_at_ms,
        clusters_told.cluster_id is not null
        and topics_told.cluster_id is null as is_topic_gone,
        {# a partition that the snapshot lacks has the id of its topic #}
        followed.committed_topic_id is not null
        and coalesce(
            followed.committed_topic_id <> told.topic_id,
            size(topics_told.topic_ids) > 0
            and not array_contains(
                topics_told.topic_ids, followed.committed_topic_id
            ),
            false
        ) as is_topic_recreated

    from partitions_followed as followed

    left join partitions_told as told using (cluster_id, topic_name, partition_index)

    left join topics_told using (cluster_id, topic_name)

    left join clusters_told using (cluster_id)

),

ends_known as (

    select
        *,
        {# an offset of another topic is no place in this log #}
        if(is_topic_recreated, null, committed_offset) as own_offset

    from partitions_compared

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
        cluster_id,
        group_id,
        topic_name,
        partition_index,
        status,
        committed_offset,
        log_start_offset,
        last_stable_offset,
        high_watermark,
        log_end_offset,
        lag,
        case
            when own_offset >= last_stable_offset then 0
            when own_offset >= log_start_offset
                then last_stable_offset - own_offset
            when own_offset < log_start_offset
                then if(
                    log_start_offset >= last_stable_offset,
                    0,
                    last_stable_offset - log_start_offset
                )
        end as records_to_read,
        if(
            lag = 0 or (lag > 0 and log_start_offset >= high_watermark),
            cast(0 as bigint),
            null
        ) as lag_seconds,
        committed_at_ms,
        {{ instant('committed_at_ms') }} as committed_at,
        {{ instant('taken_at_ms') }} as end_taken_at

    from lag_counted

)

select * from group_lag
