with

groups_due as (

    select * from {{ ref('int_groups__requests_due') }}

),

groups_handled as (

    select
        cluster_id,
        group_id,
        run_id,
        ruleset,
        decided_at_ms,
        uses_uncertain_epoch,
        topology_epoch,
        aggregate(
            requests,
            cast(
                named_struct(
                    'group_type', group_type,
                    'group_state', group_state,
                    'stored', stored_epoch,
                    'failed', failed_epoch,
                    'backoff', backoff,
                    'is_waiting', false,
                    'is_blocked', false,
                    'answers', array()
                ) as {{ request_state_type() }}
            ),
            {{ request_step() }}
        ).answers as answers

    from groups_due

),

answers_placed as (

    select
        * except (answers),
        posexplode(answers) as (place, answer)

    from groups_handled

),

requests_handled as (

    select
        cluster_id,
        group_id,
        run_id,
        ruleset,
        decided_at_ms,
        uses_uncertain_epoch,
        topology_epoch,
        place,
        answer.request_kind,
        answer.request_id,
        answer.received_at_ms,
        answer.member_id,
        answer.call_id,
        answer.pushed_epoch,
        answer.findings,
        answer.reason_code,
        answer.outcome,
        answer.message,
        answer.error_code,
        answer.request_version,
        answer.backoff_action,
        answer.stored_epoch_before,
        answer.stored_epoch_after,
        answer.failed_epoch_before,
        answer.failed_epoch_after,
        answer.backoff

    from answers_placed

)

select * from requests_handled
