{{ config(materialized='run_list') }}

-- depends_on: {{ ref('close_run') }}

with

clusters as (

    select * from {{ ref('int_tiers__clusters_observed') }}

),

partitions as (

    select * from {{ ref('int_tiers__partitions_led') }}

),

measured as (

    select * from {{ ref('int_tiers__tier_lag_latest') }}

    where is_measured

),

{# whose tasks were stopped and whose gauges were removed #}
tiering_off as (

    select
        cluster_id,
        topic_id

    from {{ ref('int_tiers__upload_candidates_decided') }}

    where reason_code = 'TIERING_OFF'

),

gauges_due as (

    select
        partitions.cluster_id,
        partitions.topic_id,
        partitions.partition_index,
        partitions.topic_name,
        partitions.broker_id,
        partitions.epochs,
        partitions.lineage,
        partitions.log_end_offset,
        clusters.at_ms,
        clusters.task_interval_ms

    from partitions

    inner join clusters using (cluster_id)

    left semi join measured using (cluster_id, topic_id, partition_index)

    left anti join tiering_off using (cluster_id, topic_id)

)

select * from gauges_due
