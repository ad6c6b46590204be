-- What is emitted lies in the target as it was known when it was decided: a
-- snapshot that is older than the sync knows of less than was mirrored.
with

translations as (

    select * from {{ ref('stg_decisions__offset_translations') }}

    where decision = 'emit'

),

ends as (

    select
        cluster_id,
        topic_name,
        partition_index,
        max(log_end_offset) as log_end_offset,
        max(taken_at_ms) as taken_at_ms,
        max(run_id) as run_id

    from {{ ref('stg_state__partition_states') }}

    where is_leader

    group by
        cluster_id,
        topic_name,
        partition_index

)

select
    translations.flow,
    translations.group_id,
    translations.topic_name,
    translations.partition_index,
    translations.translated_offset,
    ends.log_end_offset

from translations

left join {{ ref('stg_state__flows') }} as flows
    on
        translations.flow = flows.flow
        and flows.valid_to_ms is null

left join {{ ref('stg_state__offset_syncs') }} as syncs
    on
        translations.flow = syncs.flow
        and translations.syncs_incarnation = syncs.syncs_incarnation
        and translations.sync_log_offset = syncs.sync_log_offset

left join ends
    on
        flows.target_cluster_id = ends.cluster_id
        and translations.target_topic_name = ends.topic_name
        and translations.partition_index = ends.partition_index
        and translations.run_id > ends.run_id
        and ends.taken_at_ms >= coalesce(syncs.recorded_at_ms, 0)

where
    translations.translated_offset is null
    or translations.translated_offset < 0
    or translations.translated_offset > ends.log_end_offset
