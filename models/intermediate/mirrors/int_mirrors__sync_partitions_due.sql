{{ config(
    materialized='run_list',
    meta={
        'works_on': 'int_mirrors__flows_configured',
        'works_when': flow_is_folded()
    }
) }}

with

syncs_loaded as (

    select * from {{ ref('int_mirrors__syncs_loaded') }}

),

records as (

    select * from {{ ref('stg_decoded__offset_syncs') }}

),

partitions as (

    select * from {{ ref('stg_state__mirrored_partitions') }}

),

{# a flow that is new, or is another one by the same name #}
flows_to_refold as (

    select * from {{ ref('int_mirrors__flows_configured') }}

    where is_refolded

),

syncs_of_flows as (

    {{ syncs_of('records', 'flows_to_refold') }}

),

partitions_to_refold as (

    select distinct
        flow,
        topic_name,
        partition_index

    from syncs_of_flows

),

topics_recreated as (

    select * from {{ ref('int_mirrors__topics_recreated') }}

    where is_new or is_over

),

partitions_recreated as (

    select
        partitions.flow,
        partitions.topic_name,
        partitions.partition_index

    from partitions

    left semi join topics_recreated
        on
            partitions.flow = topics_recreated.flow
            and partitions.topic_name = topics_recreated.topic_name
            and partitions.recorded_at_ms > topics_recreated.last_seen_before_at_ms

),

partitions_loaded as (

    select
        flow,
        topic_name,
        partition_index,
        min(sync_log_offset) as first_sync_log_offset

    from syncs_loaded

    group by
        flow,
        topic_name,
        partition_index

),

{# what comes before the last sync that was folded is read again from the first #}
reasons_found as (

    select
        loaded.flow,
        loaded.topic_name,
        loaded.partition_index,
        coalesce(
            loaded.first_sync_log_offset <= partitions.sync_log_offset, false
        ) as is_refolded

    from partitions_loaded as loaded

    left anti join flows_to_refold using (flow)

    left join partitions using (flow, topic_name, partition_index)

    union all

    select
        flow,
        topic_name,
        partition_index,
        true as is_refolded

    from partitions_to_refold

    union all

    {# what such a flow had before may have no sync any more #}
    select
        partitions.flow,
        partitions.topic_name,
        partitions.partition_index,
        true as is_refolded

    from partitions

    left semi join flows_to_refold using (flow)

    union all

    select
        flow,
        topic_name,
        partition_index,
        true as is_refolded

    from partitions_recreated

),

sync_partitions_due as (

    select
        flow,
        topic_name,
        partition_index,
        max(is_refolded) as is_refolded

    from reasons_found

    group by
        flow,
        topic_name,
        partition_index

)

select * from sync_partitions_due
