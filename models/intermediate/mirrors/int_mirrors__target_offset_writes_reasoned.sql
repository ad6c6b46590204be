with

flows as (

    select * from {{ ref('int_mirrors__flows_configured') }}

),

checkpoints_offered as (

    select * from {{ ref('int_mirrors__checkpoints_offered') }}

),

groups as (

    select * from {{ ref('stg_state__groups') }}

    where not is_deleted

),

{# an offset below 0 is what some clients write for none #}
group_offsets as (

    select * from {{ ref('stg_state__group_offsets') }}

    where not is_deleted and committed_offset >= 0

),

offsets_compared as (

    select
        flows.source_cluster_id as cluster_id,
        offered.flow,
        offered.group_id,
        offered.target_topic_name,
        offered.partition_index,
        flows.run_id,
        flows.ruleset,
        flows.settings_hash,
        flows.decided_at_ms,
        coalesce(
            offered.refusal_code,
            {{ target_offset_reason(
                'offered.to_offset', 'groups.group_state', 'group_offsets.committed_offset'
            ) }}
        ) as reason_code,
        group_offsets.committed_offset as from_offset,
        offered.to_offset

    from checkpoints_offered as offered

    inner join flows using (flow)

    left join groups
        on
            flows.target_cluster_id = groups.cluster_id
            and offered.group_id = groups.group_id

    left join group_offsets
        on
            flows.target_cluster_id = group_offsets.cluster_id
            and offered.group_id = group_offsets.group_id
            and offered.target_topic_name = group_offsets.topic_name
            and offered.partition_index = group_offsets.partition_index

),

target_offset_writes_reasoned as (

    select
        cluster_id,
        flow,
        group_id,
        target_topic_name,
        partition_index,
        run_id,
        ruleset,
        settings_hash,
        if(
            reason_code in ('TARGET_ABSENT', 'TARGET_BEHIND'),
            'write',
            'skip'
        ) as decision,
        reason_code,
        from_offset,
        to_offset,
        decided_at_ms,
        cast(null as bigint) as next_due_at_ms

    from offsets_compared

)

select * from target_offset_writes_reasoned
