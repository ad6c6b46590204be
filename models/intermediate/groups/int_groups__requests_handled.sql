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
        arms_on_any_failure,
        tells_plugin_messages,
        requests,
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
        * except (requests, answers),
        posexplode(
            transform(
                answers,
                (answer, place)
                -> named_struct('request', get(requests, place), 'answer', answer)
            )
        ) as (place, handled)

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
        arms_on_any_failure,
        tells_plugin_messages,
        topology_epoch,
        place,
        handled.request.request_kind,
        handled.request.request_id,
        handled.request.received_at_ms,
        handled.request.member_id,
        handled.request.call_id,
        handled.request.pushed_epoch,
        handled.request.findings,
        handled.answer.reason_code,
        handled.request.outcome,
        handled.request.message as plugin_message,
        handled.request.description_error,
        handled.request.authorization_error,
        handled.request.coordinator_error,
        handled.request.read_error,
        handled.request.write_error,
        handled.request.request_version,
        handled.answer.backoff_action,
        handled.answer.stored_epoch_before,
        handled.answer.stored_epoch_after,
        handled.answer.failed_epoch_before,
        handled.answer.failed_epoch_after,
        handled.answer.backoff

    from answers_placed

)

select * from requests_handled
