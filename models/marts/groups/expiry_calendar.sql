with

offset_expirations as (

    select * from {{ ref('int_groups__offset_expirations_decided') }}

),

{# a newer commit has a clock of its own, which the next sweep reads #}
live_offsets as (

    select * from {{ ref('stg_state__group_offsets') }}

    where not is_deleted

),

reasons as (

    select * from {{ ref('reason_codes') }}

    where decision_table = 'offset_expirations'

),

expiry_calendar as (

    select
        offset_expirations.cluster_id,
        offset_expirations.group_id,
        offset_expirations.topic_name,
        offset_expirations.partition_index,
        offset_expirations.expiry_clock,
        offset_expirations.decision,
        case
            when {{ is_waiting_for_time('offset_expirations') }} then 'time'
            when offset_expirations.decision = 'keep'
                then lower(offset_expirations.reason_code)
        end as blocked_by,
        reasons.reason_text,
        {{ instant('offset_expirations.expires_at_ms') }} as expires_at,
        timestamp_millis(offset_expirations.decided_at_ms) as decided_at

    from offset_expirations

    left semi join live_offsets
        on
            offset_expirations.cluster_id = live_offsets.cluster_id
            and offset_expirations.group_id = live_offsets.group_id
            and offset_expirations.topic_name = live_offsets.topic_name
            and offset_expirations.partition_index
            = live_offsets.partition_index
            and offset_expirations.observed_log_offset
            = live_offsets.commit_log_offset

    left join reasons using (reason_code)

)

select * from expiry_calendar
