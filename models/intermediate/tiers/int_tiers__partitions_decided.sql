with

upload_candidates as (

    select * from {{ ref('stg_decisions__upload_candidates') }}

),

delete_candidates as (

    select * from {{ ref('stg_decisions__delete_candidates') }}

),

decisions as (

    select
        cluster_id,
        topic_id,
        partition_index,
        reason_code,
        run_id,
        settings_hash,
        ruleset,
        decided_at_ms,
        next_due_at_ms

    from upload_candidates

    union all

    select
        cluster_id,
        topic_id,
        partition_index,
        reason_code,
        run_id,
        settings_hash,
        ruleset,
        decided_at_ms,
        next_due_at_ms

    from delete_candidates

),

partitions_decided as (

    select
        cluster_id,
        topic_id,
        partition_index,
        settings_hash,
        ruleset,
        min(next_due_at_ms) as next_due_at_ms,
        max(decided_at_ms) as decided_at_ms,
        max(run_id) as run_id,
        bool_or(reason_code not in ('NO_SNAPSHOT', 'TOPIC_DELETED'))
            as is_seen

    from decisions

    group by
        cluster_id,
        topic_id,
        partition_index,
        settings_hash,
        ruleset

)

select * from partitions_decided
