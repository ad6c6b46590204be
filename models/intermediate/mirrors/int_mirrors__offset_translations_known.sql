{{ config(materialized='run_list', meta={'works_on': 'int_mirrors__target_groups_due'}) }}

with

reasoned as (

    select * from {{ ref('int_mirrors__offset_translations_reasoned') }}

),

flows as (

    select * from {{ ref('int_mirrors__flows_configured') }}

    where is_in_scope

),

groups_due as (

    select * from {{ ref('int_mirrors__target_groups_due') }}

),

stored as (

    select earlier.*

    from {{ ref('stg_decisions__offset_translations') }} as earlier

    left semi join flows
        on earlier.flow = flows.flow

    left semi join groups_due
        on
            earlier.flow = groups_due.flow
            and earlier.group_id = groups_due.group_id

    left anti join reasoned
        on
            earlier.flow = reasoned.flow
            and earlier.group_id = reasoned.group_id
            and earlier.topic_name = reasoned.topic_name
            and earlier.partition_index = reasoned.partition_index

),

translations_known as (

    select
        flow,
        group_id,
        topic_name,
        target_topic_name,
        partition_index,
        decision,
        reason_code,
        upstream_offset,
        translated_offset,
        upper_bound,
        observed_upstream_offset,
        observed_downstream_offset

    from reasoned

    union all

    select
        flow,
        group_id,
        topic_name,
        target_topic_name,
        partition_index,
        decision,
        reason_code,
        upstream_offset,
        translated_offset,
        upper_bound,
        observed_upstream_offset,
        observed_downstream_offset

    from stored

)

select * from translations_known
