with

offsets_timed as (

    select * from {{ ref('int_groups__offsets_timed') }}

),

offsets_reasoned as (

    select
        *,
        case
            when not is_readable then 'UNREADABLE'
            when expiry_clock is null then 'NO_EXPIRATION_CONDITION'
            when is_subscribed then 'SUBSCRIBED'
            when has_pending_transaction then 'PENDING_TRANSACTION'
            when decided_at_ms < expires_at_ms and expiry_clock = 'explicit'
                then 'EXPLICIT_EXPIRY_NOT_REACHED'
            when decided_at_ms < expires_at_ms then 'RETENTION_NOT_ELAPSED'
            when expiry_clock = 'explicit' then 'EXPLICIT_EXPIRY'
            else 'RETENTION_ELAPSED'
        end as reason_code

    from offsets_timed

),

offset_expirations_reasoned as (

    select
        cluster_id,
        group_id,
        topic_name,
        partition_index,
        run_id,
        ruleset,
        settings_hash,
        if(
            reason_code in ('RETENTION_ELAPSED', 'EXPLICIT_EXPIRY'),
            'expire',
            'keep'
        ) as decision,
        reason_code,
        expiry_clock,
        expires_at_ms,
        observed_log_offset,
        decided_at_ms

    from offsets_reasoned

)

select * from offset_expirations_reasoned
