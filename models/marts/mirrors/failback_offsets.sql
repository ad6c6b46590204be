with

translated as (

    select * from {{ ref('int_mirrors__failback_translated') }}

),

flows as (

    select * from {{ ref('stg_state__flows') }}

),

groups as (

    select * from {{ ref('stg_state__groups') }}

    where not is_deleted

),

group_offsets as (

    select * from {{ ref('stg_state__group_offsets') }}

    where not is_deleted and committed_offset >= 0

),

offsets_compared as (

    select
        translated.*,
        coalesce(
            translated.refusal_code,
            {{ target_offset_reason(
                'translated.translated_offset',
                'groups.group_state',
                'source_offsets.committed_offset'
            ) }}
        ) as reason_code,
        groups.group_state as source_group_state,
        source_offsets.committed_offset as source_offset

    from translated

    inner join flows on translated.flow = flows.flow

    left join groups
        on
            flows.source_cluster_id = groups.cluster_id
            and translated.group_id = groups.group_id

    left join group_offsets as source_offsets
        on
            flows.source_cluster_id = source_offsets.cluster_id
            and translated.group_id = source_offsets.group_id
            and translated.topic_name = source_offsets.topic_name
            and translated.partition_index = source_offsets.partition_index

),

failback_offsets as (

    select
        flow,
        group_id,
        target_topic_name,
        partition_index,
        topic_name,
        committed_offset,
        translated_offset,
        anchored_offset,
        reread_max,
        sync_log_offset,
        if(reason_code in ('TARGET_ABSENT', 'TARGET_BEHIND'), 'write', 'skip')
            as decision,
        reason_code,
        source_group_state,
        source_offset

    from offsets_compared

)

select * from failback_offsets
