-- A checkpoint goes back, or says the same again, only where its group did, or
-- the target began anew; a task that forgets its checkpoints at a restart guards
-- nothing.
select
    checkpoints.flow,
    checkpoints.group_id,
    checkpoints.target_topic_name,
    checkpoints.partition_index,
    checkpoints.run_id,
    checkpoints.downstream_offset,
    checkpoints.previous_downstream_offset

from {{ ref('stg_history__checkpoints') }} as checkpoints

inner join {{ ref('rule_sets') }} as rule_sets
    on checkpoints.ruleset = rule_sets.ruleset

where
    rule_sets.domain = 'mirrors'
    and rule_sets.reads_checkpoints
    and checkpoints.downstream_offset <= checkpoints.previous_downstream_offset
    and checkpoints.reason_code not in (
        'EMIT_NEW_INCARNATION', 'BEFORE_FIRST_SYNC_CLAMPED'
    )
    and not (
        checkpoints.reason_code = 'EMIT_GROUP_REWIND'
        and checkpoints.upstream_offset < checkpoints.previous_upstream_offset
    )
