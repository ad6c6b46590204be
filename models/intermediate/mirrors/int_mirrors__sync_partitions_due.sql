{{ config(materialized='run_list') }}

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

flows_to_refold as (

    select * from {{ ref('int_mirrors__flows_configured') }}

    where is_refolded

),

{# a flow that is new, or is another one by the same name #}
flows as (

    select * from flows_to_refold

),

syncs_of_flows as (

    {{ syncs_of('records') }}

),

partitions_to_refold as (

    select distinct
        flow,
        topic_name,
        partition_index

    from syncs_of_flows

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
sync_partitions_due as (

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

)

select * from sync_partitions_due
