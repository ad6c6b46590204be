-- A run decides about every commit that a flow's source had by then, and gives
-- each a reason; the key of the decisions sees to it that it gives only one.
with

flows as (

    select * from {{ ref('stg_state__flows') }}

    where valid_to_ms is null

),

translations as (

    select * from {{ ref('stg_decisions__offset_translations') }}

),

last_decided as (

    select
        flow,
        max(run_id) as run_id

    from translations

    group by flow

)

select
    flows.flow,
    group_offsets.group_id,
    group_offsets.topic_name,
    group_offsets.partition_index

from {{ ref('stg_state__group_offsets') }} as group_offsets

inner join flows
    on group_offsets.cluster_id = flows.source_cluster_id

inner join last_decided
    on
        flows.flow = last_decided.flow
        and group_offsets.changed_in_run_id < last_decided.run_id

left anti join translations
    on
        flows.flow = translations.flow
        and group_offsets.group_id = translations.group_id
        and group_offsets.topic_name = translations.topic_name
        and group_offsets.partition_index = translations.partition_index
