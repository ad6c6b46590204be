with

flows as (

    select
        *,
        {# Kafka's default where the flow does not say: MirrorConnectorConfig #}
        coalesce(
            cast(
                get_json_object(settings, '$[\'offset.lag.max\']')  -- noqa: CV10
                as bigint
            ),
            100
        ) as offset_lag_max

    from {{ ref('stg_state__flows') }}

),

partitions as (

    select * from {{ ref('stg_state__mirrored_partitions') }}

),

ends as (

    select * from {{ ref('int_mirrors__partition_ends') }}

),

parameters as (

    select * from {{ ref('stg_run__parameters') }}

),

partitions_with_flows as (

    select
        partitions.flow,
        partitions.topic_name,
        partitions.partition_index,
        flows.source_cluster_id,
        flows.target_cluster_id,
        {{ target_topic_name('flows', 'partitions.topic_name') }} as target_topic_name,
        flows.offset_lag_max,
        partitions.upstream_offset,
        partitions.downstream_offset,
        partitions.recorded_at_ms

    from partitions

    inner join flows using (flow)

),

{# the record at the sync's offset is mirrored; what comes after it is not known to be #}
distances_measured as (

    select
        partitions.*,
        source_ends.log_end_offset as source_end_offset,
        source_ends.taken_at_ms as source_taken_at_ms,
        target_ends.log_end_offset as target_end_offset,
        target_ends.taken_at_ms as target_taken_at_ms,
        greatest(
            source_ends.log_end_offset - 1 - partitions.upstream_offset,
            if(source_ends.log_end_offset is null, null, 0)
        ) as upstream_distance,
        greatest(
            target_ends.log_end_offset - 1 - partitions.downstream_offset,
            if(target_ends.log_end_offset is null, null, 0)
        ) as downstream_distance

    from partitions_with_flows as partitions

    left join ends as source_ends
        on
            partitions.source_cluster_id = source_ends.cluster_id
            and partitions.topic_name = source_ends.topic_name
            and partitions.partition_index = source_ends.partition_index

    left join ends as target_ends
        on
            partitions.target_cluster_id = target_ends.cluster_id
            and partitions.target_topic_name = target_ends.topic_name
            and partitions.partition_index = target_ends.partition_index

),

mirror_sync_age as (

    select
        distances.flow,
        distances.topic_name,
        distances.partition_index,
        distances.target_topic_name,
        distances.upstream_offset,
        distances.downstream_offset,
        {{ instant('distances.recorded_at_ms') }} as synced_at,
        greatest(parameters.at_ms - distances.recorded_at_ms, 0) as age_ms,
        distances.source_end_offset,
        distances.target_end_offset,
        distances.upstream_distance,
        distances.downstream_distance,
        distances.offset_lag_max,
        {{ instant('distances.source_taken_at_ms') }} as source_end_taken_at,
        {{ instant('distances.target_taken_at_ms') }} as target_end_taken_at,
        {# a task writes a sync once it is so far past the last: ten minutes are its delay #}
        if(
            distances.upstream_distance > distances.offset_lag_max
            and distances.source_taken_at_ms
            > distances.recorded_at_ms + 600000,
            'SYNCS_STOPPED',
            null
        ) as finding

    from distances_measured as distances

    cross join parameters

)

select * from mirror_sync_age
