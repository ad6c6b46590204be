{{ config(materialized='run_list') }}

with

flows as (

    select * from {{ ref('int_mirrors__flows_configured') }}

    where knows_incarnations

),

partitions as (

    select * from {{ ref('stg_state__mirrored_partitions') }}

),

topics_renewed as (

    select * from {{ ref('int_mirrors__topics_renewed') }}

),

ends as (

    select * from {{ ref('int_mirrors__partition_ends') }}

),

topics_known as (

    select
        cluster_id,
        topic_name,
        max(first_seen_at_ms) as first_seen_at_ms

    from {{ ref('stg_state__source_topics') }}

    group by
        cluster_id,
        topic_name

),

mirrored as (

    select
        flows.flow,
        flows.target_cluster_id,
        {{ target_topic_name('flows', 'partitions.topic_name') }} as target_topic_name,
        partitions.topic_name,
        partitions.partition_index,
        partitions.incarnation,
        partitions.first_sync_log_offset,
        partitions.downstream_offset,
        partitions.recorded_at_ms

    from partitions

    inner join flows on partitions.flow = flows.flow

),

{# a target that ends before a copy that lay there is another one, unless its id is known
   from before: then it was cut back, and what is left means the same #}
compared as (

    select
        mirrored.*,
        topics_renewed.renewed_at_ms,
        topics_renewed.last_seen_before_at_ms,
        if(
            ends.log_end_offset <= mirrored.downstream_offset
            and ends.taken_at_ms >= mirrored.recorded_at_ms
            and not coalesce(topics_known.first_seen_at_ms <= mirrored.recorded_at_ms, false),
            ends.taken_at_ms + 1,
            null
        ) as lost_at_ms

    from mirrored

    left join topics_renewed
        on
            mirrored.target_cluster_id = topics_renewed.cluster_id
            and mirrored.target_topic_name = topics_renewed.topic_name

    left join topics_known
        on
            mirrored.target_cluster_id = topics_known.cluster_id
            and mirrored.target_topic_name = topics_known.topic_name

    left join ends
        on
            mirrored.target_cluster_id = ends.cluster_id
            and mirrored.target_topic_name = ends.topic_name
            and mirrored.partition_index = ends.partition_index

),

{# between the two sights a step back tells which target a sync is of #}
dated as (

    select
        compared.flow,
        compared.topic_name,
        compared.target_topic_name,
        compared.partition_index,
        syncs.recorded_at_ms as first_recorded_at_ms,
        compared.lost_at_ms,
        if(
            compared.incarnation > 0
            and syncs.downstream_offset <= syncs.previous_downstream_offset
            and syncs.recorded_at_ms > compared.last_seen_before_at_ms,
            least(syncs.recorded_at_ms, compared.renewed_at_ms),
            compared.renewed_at_ms
        ) as renewed_at_ms

    from compared

    inner join {{ ref('stg_state__offset_syncs') }} as syncs
        on
            compared.flow = syncs.flow
            and compared.topic_name = syncs.topic_name
            and compared.partition_index = syncs.partition_index
            and compared.first_sync_log_offset = syncs.sync_log_offset

    where
        compared.renewed_at_ms is not null
        or compared.lost_at_ms is not null

),

targets_renewed as (

    select
        flow,
        topic_name,
        partition_index,
        target_topic_name,
        greatest(renewed_at_ms, lost_at_ms) as valid_from_ms,
        first_recorded_at_ms,
        first_recorded_at_ms < greatest(renewed_at_ms, lost_at_ms) as has_older_syncs

    from dated

)

select * from targets_renewed
