with

group_lag as (

    select * from {{ ref('group_lag') }}

),

statuses_counted as (

    select
        cluster_id,
        group_id,
        status,
        count(*) as partitions

    from group_lag

    group by
        cluster_id,
        group_id,
        status

),

statuses_gathered as (

    select
        cluster_id,
        group_id,
        map_from_entries(
            array_sort(collect_list(struct(status, partitions)))
        ) as partitions_by_status

    from statuses_counted

    group by
        cluster_id,
        group_id

),

topics_summed as (

    select
        cluster_id,
        group_id,
        topic_name,
        {{ long_sum('lag') }} as lag

    from group_lag

    group by
        cluster_id,
        group_id,
        topic_name

),

topics_gathered as (

    select
        cluster_id,
        group_id,
        map_from_entries(
            array_sort(collect_list(struct(topic_name, lag)))
        ) as lag_by_topic

    from topics_summed

    group by
        cluster_id,
        group_id

),

{# of the same lag the first partition by name #}
partitions_ranked as (

    select
        *,
        row_number() over (
            partition by cluster_id, group_id
            order by lag desc nulls last, topic_name asc, partition_index asc
        ) as lag_rank

    from group_lag

),

groups_summed as (

    select
        cluster_id,
        group_id,
        count(*) as partitions,
        count_if(lag is null) as unknown_partitions,
        count_if(coalesce(trend = 'STOPPED', false)) as stopped_partitions,
        {{ long_sum('lag') }} as lag,
        {{ long_sum('records_to_read') }} as records_to_read,
        {{ long_sum('lag', where='trend is not null') }} as lag_compared,
        {{ long_sum('lag_then', where='trend is not null') }} as lag_then,
        bool_or(trend is not null and committed_offset <> offset_then) as has_moved,
        max(if(lag_rank = 1 and lag is not null, topic_name, null))
            as worst_topic_name,
        max(if(lag_rank = 1 and lag is not null, partition_index, null))
            as worst_partition_index,
        max(lag) as worst_lag,
        max(lag_seconds) as lag_seconds,
        max(lag_seconds_at_least) as lag_seconds_at_least,
        min(end_taken_at) as end_taken_at,
        min(then_at) as then_at,
        min(lost_from_at) as lost_from_at

    from partitions_ranked

    group by
        cluster_id,
        group_id

),

group_lag_by_group as (

    select
        summed.cluster_id,
        summed.group_id,
        summed.partitions,
        summed.unknown_partitions,
        summed.stopped_partitions,
        statuses.partitions_by_status,
        summed.lag,
        topics.lag_by_topic,
        summed.records_to_read,
        summed.lag_seconds,
        summed.lag_seconds_at_least,
        case
            when summed.lag_then is null then null
            when summed.lag_compared < summed.lag_then then 'SHRINKING'
            when summed.lag_compared = summed.lag_then then 'STEADY'
            when not summed.has_moved then 'STOPPED'
            else 'GROWING'
        end as trend,
        summed.lag_then,
        summed.worst_topic_name,
        summed.worst_partition_index,
        summed.worst_lag,
        summed.end_taken_at,
        summed.then_at,
        summed.lost_from_at

    from groups_summed as summed

    inner join statuses_gathered as statuses using (cluster_id, group_id)

    inner join topics_gathered as topics using (cluster_id, group_id)

)

select * from group_lag_by_group
