{{ config(materialized='run_list') }}

with

parameters as (

    select * from {{ ref('stg_run__parameters') }}

),

topics as (

    select * from {{ ref('int_tiers__topics_configured') }}

),

clusters as (

    select * from {{ ref('int_tiers__clusters_configured') }}

),

changed as (

    select
        cluster_id,
        topic_id,
        partition_index,
        'changed' as due_because

    from {{ ref('int_tiers__partitions_changed') }}

),

decided as (

    select * from {{ ref('int_tiers__partitions_decided') }}

),

come_due as (

    select
        decided.cluster_id,
        decided.topic_id,
        decided.partition_index,
        'stale' as due_because

    from decided

    inner join clusters using (cluster_id)

    where
        {{ is_decision_stale('decided', 'clusters') }}
        {# a run that was killed after it had decided #}
        or decided.run_id = clusters.run_id

),

unsettled as (

    select
        unsettled.cluster_id,
        unsettled.topic_id,
        unsettled.partition_index,
        'stale' as due_because

    from {{ ref('int_tiers__partitions_unsettled') }} as unsettled

    inner join clusters using (cluster_id)

),

stale as (

    select
        cluster_id,
        topic_id,
        partition_index,
        due_because

    from come_due

    union distinct

    select * from unsettled

),

due as (

    select * from changed

    union all

    select * from stale

),

{# what-if asks about one topic: the others need not be decided #}
partitions_due as (

    select due.*

    from due

    cross join parameters

    left join topics using (cluster_id, topic_id)

    where
        parameters.topic_name is null
        or parameters.topic_name = topics.topic_name

)

select * from partitions_due
