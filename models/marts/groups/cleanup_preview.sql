with

state_groups as (

    select * from {{ ref('stg_state__groups') }}

),

cleanup_eligibility as (

    select * from {{ ref('int_groups__cleanup_eligibility_decided') }}

),

group_sweeps as (

    select * from {{ ref('int_groups__group_sweeps_decided') }}

),

cycle_reasons as (

    select * from {{ ref('reason_codes') }}

    where decision_table = 'cleanup_eligibility'

),

sweep_reasons as (

    select * from {{ ref('reason_codes') }}

    where decision_table = 'group_sweeps'

),

{# a decision about a group that has changed since, or that was carried out,
   foretells nothing; a live group is shown even so #}
decisions_joined as (

    select
        state_groups.cluster_id,
        state_groups.group_id,
        state_groups.group_type,
        state_groups.group_state,
        state_groups.stored_description_topology_epoch,
        cleanup_eligibility.decision as next_cycle,
        cleanup_eligibility.reason_code as next_cycle_reason_code,
        cleanup_eligibility.decided_at_ms as cycle_decided_at_ms,
        cleanup_eligibility.next_due_at_ms as cycle_due_at_ms,
        group_sweeps.decision as next_sweep,
        group_sweeps.reason_code as next_sweep_reason_code,
        group_sweeps.offsets_to_expire,
        group_sweeps.offsets_left,
        group_sweeps.decided_at_ms as sweep_decided_at_ms,
        group_sweeps.next_due_at_ms as sweep_due_at_ms

    from state_groups

    left join cleanup_eligibility
        on
            state_groups.cluster_id = cleanup_eligibility.cluster_id
            and state_groups.group_id = cleanup_eligibility.group_id
            and state_groups.changed_in_run_id < cleanup_eligibility.run_id

    left join group_sweeps
        on
            state_groups.cluster_id = group_sweeps.cluster_id
            and state_groups.group_id = group_sweeps.group_id
            and state_groups.changed_in_run_id < group_sweeps.run_id

    where
        not state_groups.is_deleted
        or cleanup_eligibility.group_id is not null
        or group_sweeps.group_id is not null

),

cleanup_preview as (

    select
        decisions_joined.cluster_id,
        decisions_joined.group_id,
        decisions_joined.group_type,
        decisions_joined.group_state,
        decisions_joined.stored_description_topology_epoch,
        decisions_joined.next_cycle,
        decisions_joined.next_cycle_reason_code,
        decisions_joined.next_sweep,
        decisions_joined.next_sweep_reason_code,
        decisions_joined.offsets_to_expire,
        decisions_joined.offsets_left,
        case
            when
                decisions_joined.next_cycle = 'eligible'
                or decisions_joined.next_sweep = 'tombstone'
                then null
            else lower(
                coalesce(
                    decisions_joined.next_sweep_reason_code,
                    decisions_joined.next_cycle_reason_code
                )
            )
        end as blocked_by,
        concat_ws(
            ' ',
            {{ next_run_text('Cycle', 'cycle_reasons.reason_text') }},
            {{ next_run_text('Sweep', 'sweep_reasons.reason_text') }}
        ) as reason,
        {{ instant(
            'least('
            ~ 'decisions_joined.cycle_due_at_ms, '
            ~ 'decisions_joined.sweep_due_at_ms)'
        ) }} as next_change_at,
        timestamp_millis(
            greatest(
                decisions_joined.cycle_decided_at_ms,
                decisions_joined.sweep_decided_at_ms
            )
        ) as decided_at

    from decisions_joined

    left join cycle_reasons
        on
            decisions_joined.next_cycle_reason_code = cycle_reasons.reason_code

    left join sweep_reasons
        on
            decisions_joined.next_sweep_reason_code = sweep_reasons.reason_code

)

select * from cleanup_preview
