with

{# whoever starts reads what the group is subscribed to, as far as that is known #}
partitions_read as (

    select
        *,
        {# what was committed after the snapshot was taken, the snapshot cannot contradict #}
        coalesce(committed_at_ms > taken_at_ms, false) as is_commit_newer

    from {{ ref('int_groups__partitions_compared') }}

    where not is_unsubscribed

),

reasons as (

    select * from {{ ref('reason_codes') }}

    where decision_table = 'start_positions'

),

{# Kafka reads from the log's start to its very end, and nothing is out of range between the
   high watermark and that end: the client waits there (LocalLog.read) #}
positions_reasoned as (

    select
        *,
        case
            when committed_offset is null then 'NO_COMMIT'
            when is_topic_recreated and not is_commit_newer then 'TOPIC_RECREATED'
            when is_topic_recreated then 'NO_END_KNOWN'
            when committed_offset < log_start_offset then 'BELOW_LOG_START'
            when epoch_end_offset < committed_offset and not is_commit_newer then 'LOG_TRUNCATED'
            when committed_offset > log_end_offset and not is_commit_newer
                then 'ABOVE_LOG_END'
            when
                committed_offset >= log_start_offset
                and committed_offset
                <= greatest(high_watermark, log_end_offset)
                then 'COMMITTED'
            else 'NO_END_KNOWN'
        end as reason_code

    from partitions_read

),

start_positions as (

    select
        positions.cluster_id,
        positions.group_id,
        positions.topic_name,
        positions.partition_index,
        reasons.decision,
        positions.reason_code,
        reasons.reason_text,
        case
            when reasons.decision <> 'continue' then null
            when positions.reason_code = 'LOG_TRUNCATED' then positions.epoch_end_offset
            else positions.committed_offset
        end as position,  -- noqa: RF04
        positions.committed_offset,
        positions.committed_leader_epoch,
        positions.epoch_end_offset,
        positions.log_start_offset,
        positions.last_stable_offset,
        positions.high_watermark,
        positions.log_end_offset,
        {{ instant('positions.committed_at_ms') }} as committed_at,
        {{ instant('positions.taken_at_ms') }} as end_taken_at

    from positions_reasoned as positions

    inner join reasons using (reason_code)

)

select * from start_positions
