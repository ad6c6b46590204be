with

commits as (

    select
        cluster_id,
        group_id,
        event_at_ms,
        event,
        topic_name,
        partition_index,
        cast(offset_before as string) as value_before,
        cast(offset_after as string) as value_after,
        cast(null as string) as cause,
        log_partition_index,
        log_offset,
        'committed_offset' as value_name,
        until_at_ms,
        until_log_offset,
        event_count,
        run_id,
        cast(null as string) as member_id,
        cast(null as string) as deleted_by,
        cast(null as string) as expiry_clock,
        cast(null as bigint) as due_at_ms,
        cast(null as bigint) as commit_at_ms,
        cast(null as bigint) as offsets_retention_ms,
        cast(null as string) as reason_code,
        cast(null as string) as message,
        '' as told_by

    from {{ ref('int_groups__commits_gathered') }}

),

offsets_gone as (

    select
        cluster_id,
        group_id,
        recorded_at_ms as event_at_ms,
        'OFFSET_DELETED' as event,
        topic_name,
        partition_index,
        cast(committed_offset as string) as value_before,
        cast(null as string) as value_after,
        cause,
        log_partition_index,
        log_offset,
        'committed_offset' as value_name,
        recorded_at_ms as until_at_ms,
        log_offset as until_log_offset,
        cast(1 as bigint) as event_count,
        run_id,
        cast(null as string) as member_id,
        'broker' as deleted_by,
        expiry_clock,
        due_at_ms,
        commit_at_ms,
        offsets_retention_ms,
        cast(null as string) as reason_code,
        cast(null as string) as message,
        '' as told_by

    from {{ ref('int_groups__offsets_gone') }}

),

group_changes as (

    select
        cluster_id,
        group_id,
        recorded_at_ms as event_at_ms,
        event,
        cast(null as string) as topic_name,
        cast(null as int) as partition_index,
        value_before,
        value_after,
        cause,
        log_partition_index,
        log_offset,
        value_name,
        recorded_at_ms as until_at_ms,
        log_offset as until_log_offset,
        cast(1 as bigint) as event_count,
        run_id,
        member_id,
        if(event = 'GROUP_DELETED', 'broker', null) as deleted_by,
        cast(null as string) as expiry_clock,
        cast(null as bigint) as due_at_ms,
        cast(null as bigint) as commit_at_ms,
        cast(null as bigint) as offsets_retention_ms,
        cast(null as string) as reason_code,
        cast(null as string) as message,
        '' as told_by

    from {{ ref('int_groups__group_changes_told') }}

),

own_changes as (

    select
        cluster_id,
        group_id,
        event_at_ms,
        event,
        topic_name,
        partition_index,
        value_before,
        value_after,
        cause,
        cast(null as int) as log_partition_index,
        cast(null as bigint) as log_offset,
        value_name,
        event_at_ms as until_at_ms,
        cast(null as bigint) as until_log_offset,
        cast(1 as bigint) as event_count,
        run_id,
        cast(null as string) as member_id,
        deleted_by,
        cast(null as string) as expiry_clock,
        cast(null as bigint) as due_at_ms,
        cast(null as bigint) as commit_at_ms,
        cast(null as bigint) as offsets_retention_ms,
        reason_code,
        message,
        told_by

    from {{ ref('int_groups__own_changes_told') }}

),

events as (

    select * from commits

    union all

    select * from offsets_gone

    union all

    select * from group_changes

    union all

    select * from own_changes

),

group_timeline as (

    select
        cluster_id,
        group_id,
        event_at_ms,
        event,
        topic_name,
        partition_index,
        value_before,
        value_after,
        cause,
        if(log_offset is null, null, '__consumer_offsets') as evidence_topic,
        log_partition_index as evidence_partition,
        log_offset as evidence_offset,
        row_number() over (
            partition by cluster_id, group_id
            order by
                event_at_ms,
                log_offset nulls last,
                run_id,
                event,
                topic_name,
                partition_index,
                value_name,
                told_by
        ) as event_index,
        value_name,
        until_at_ms,
        until_log_offset as evidence_until_offset,
        event_count,
        run_id,
        member_id,
        deleted_by,
        expiry_clock,
        due_at_ms,
        commit_at_ms,
        offsets_retention_ms,
        reason_code,
        message,
        {{ instant('event_at_ms') }} as event_at,
        {{ instant('until_at_ms') }} as until_at,
        {{ instant('due_at_ms') }} as due_at

    from events

)

select * from group_timeline
