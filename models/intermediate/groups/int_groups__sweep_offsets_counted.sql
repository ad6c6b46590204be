with

offset_expirations as (

    select * from {{ ref('int_groups__sweep_offsets_due') }}

),

offsets_counted as (

    select
        offset_expirations.cluster_id,
        offset_expirations.group_id,
        count_if(offset_expirations.decision = 'expire') as offsets_to_expire,
        count_if(offset_expirations.decision = 'keep') as offsets_left,
        count_if(offset_expirations.reason_code = 'NO_EXPIRATION_CONDITION')
            as offsets_without_condition,
        count_if(offset_expirations.reason_code = 'UNREADABLE')
            as offsets_unreadable,
        min(
            if(
                {{ is_waiting_for_time('offset_expirations') }},
                offset_expirations.expires_at_ms,
                null
            )
        ) as next_due_at_ms

    from offset_expirations

    group by
        offset_expirations.cluster_id,
        offset_expirations.group_id

)

select * from offsets_counted
