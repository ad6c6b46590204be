{# One request of a group, handled alone: the state of the group before it becomes the state after it, with its answer. The
   words inside: `s` the state, `r` the request, `b` the back-off that holds at its instant, and the group's own columns
   (int_groups__requests_due). Source: spec of KIP-1331, sections 2 to 5; StreamsGroupTopologyDescriptionManager. #}
{% macro request_step() -%}
(s, r) -> {{ let(
    'b', 'if(exists(unloads, u -> u between s.backoff.armed_at_ms and r.received_at_ms), null, s.backoff)',
    let('reason', request_reason(), let('armed_epoch', armed_epoch(), request_answered()))
) }}
{%- endmacro %}

{# `body`, in which `name` stands for the value: SQL has no other way to say it once inside of an expression. #}
{% macro let(name, value, body) -%}
transform(array({{ value }}), {{ name }} -> {{ body }})[0]
{%- endmacro %}

{% macro backoff_type() -%}
struct<topology_epoch: int, attempts: int, next_attempt_at_ms: bigint, armed_at_ms: bigint>
{%- endmacro %}

{% macro answer_type() -%}
struct<
    reason_code: string, backoff_action: string, stored_epoch_before: int, stored_epoch_after: int,
    failed_epoch_before: int, failed_epoch_after: int, backoff: {{ backoff_type() }}
>
{%- endmacro %}

{% macro request_state_type() -%}
struct<
    group_type: string, group_state: string, stored: int, failed: int, backoff: {{ backoff_type() }},
    is_waiting: boolean, is_blocked: boolean, answers: array<{{ answer_type() }}>
>
{%- endmacro %}

{# The first check that holds. CALL_WANTED and WAITING are no answers: the plugin is to be called, or is being called for an
   earlier request on which this one depends. Where no call could be made, NOT_CALLED answers so that the client tries again. #}
{% macro request_reason() -%}
case
    when s.is_blocked then 'WAITING'
    when r.request_kind = 'heartbeat' then {{ heartbeat_reason() }}
    when r.request_kind = 'push' then {{ push_reason() }}
    when r.request_kind = 'deletion' then {{ deletion_reason() }}
    else {{ join_reason() }}
end
{%- endmacro %}

{% macro heartbeat_reason() -%}
case
    when r.request_version < 1 then 'OLD_REQUEST_VERSION'
    when not has_plugin then 'NO_PLUGIN'
    when r.member_epoch < 0 then 'MEMBER_LEAVING'
    when r.response_error <> 'NONE' then 'RESPONSE_ERROR'
    when not is_readable then 'UNREADABLE'
    when not s.group_type <=> 'streams' or topology_epoch < 0 then 'NO_TOPOLOGY'
    when s.stored = topology_epoch then 'ALREADY_STORED'
    when s.failed = topology_epoch then 'PERMANENTLY_FAILED'
    when exists(r.status_codes, c -> c is null) then 'UNREADABLE_RESPONSE'
    when array_contains(r.status_codes, 0) then 'STALE_TOPOLOGY'
    when b.topology_epoch = topology_epoch and r.received_at_ms < b.next_attempt_at_ms then 'BACKOFF_ACTIVE'
    else 'REQUIRED'
end
{%- endmacro %}

{# The first six are checked before anything is scheduled. Member and epoch are those of when the plugin was called: who is
   fenced meanwhile has pushed. #}
{% macro push_reason() -%}
case
    when r.authorization_error is not null then 'NOT_AUTHORIZED'
    when r.coordinator_error = 'COORDINATOR_NOT_AVAILABLE' then 'COORDINATOR_NOT_ACTIVE'
    when not has_plugin then 'NO_PLUGIN'
    when r.member_id = '' then 'NO_MEMBER_ID'
    when r.is_of_no_group then 'NO_GROUP_ID'
    when not r.has_description then 'NO_DESCRIPTION'
    when r.coordinator_error is not null then 'COORDINATOR_FAILED'
    when s.group_type is null then 'GROUP_NOT_FOUND'
    when not is_readable then 'UNREADABLE'
    when s.group_type <> 'streams' then 'NOT_STREAMS'
    when not (r.is_called or r.is_member) then 'UNKNOWN_MEMBER'
    when not r.is_called and r.pushed_epoch <> topology_epoch then 'EPOCH_MISMATCH'
    when r.description_error is not null then 'INVALID_DESCRIPTION'
    when r.outcome is null then 'CALL_WANTED'
    when r.outcome in ('transient_failure', 'timeout') then 'PLUGIN_FAILED'
    when r.write_error is not null then if(r.outcome = 'success', 'WRITE_FAILED', 'REFUSAL_NOT_WRITTEN')
    when r.outcome = 'permanent_failure' then 'PLUGIN_REFUSED'
    else 'STORED'
end
{%- endmacro %}

{% macro deletion_reason() -%}
case
    when r.is_of_no_group then 'NO_GROUP_ID'
    when has_plugin and r.read_error is not null then 'READ_FAILED'
    when not is_readable and s.group_type is not null then 'UNREADABLE'
    when s.is_waiting and has_plugin and s.group_type = 'streams' and s.stored = -1 then 'WAITING'
    when {{ deletes_description() }} and r.outcome is null then 'CALL_WANTED'
    when r.outcome <> 'success' then 'PLUGIN_FAILED'
    when s.group_type is null then 'GROUP_NOT_FOUND'
    when s.group_state <> 'EMPTY' then 'NOT_EMPTY'
    else 'DELETED'
end
{%- endmacro %}

{# V3 asks again whether the group is still empty before it calls; before that the description of a live group went. #}
{% macro deletes_description() -%}
(
    has_plugin
    and s.group_type <=> 'streams'
    and s.stored <> -1
    and (not uses_uncertain_epoch or s.group_state = 'EMPTY')
)
{%- endmacro %}

{% macro join_reason() -%}
case
    when s.group_type is null then 'GROUP_NOT_FOUND'
    when not is_readable then 'UNREADABLE'
    when s.group_type <> 'streams' then 'NOT_STREAMS'
    when s.group_state <> 'EMPTY' then 'NOT_EMPTY'
    when not (uses_uncertain_epoch and has_plugin and s.stored <> -1) then 'CONVERTED'
    when b.topology_epoch = -2 and r.received_at_ms < b.next_attempt_at_ms then 'THROTTLED'
    when r.outcome is null then 'CALL_WANTED'
    when r.outcome <> 'success' then 'PLUGIN_FAILED'
    else 'CONVERTED'
end
{%- endmacro %}

{# The epoch that the request's back-off is about; the throttle of a classic join is kept at -2. #}
{% macro armed_epoch() -%}
case r.request_kind when 'heartbeat' then topology_epoch when 'push' then r.pushed_epoch else -2 end
{%- endmacro %}

{% macro backoff_action() -%}
case
    when reason in ('WAITING', 'CALL_WANTED') then 'NONE'
    when r.request_kind = 'heartbeat' then if(reason = 'REQUIRED', 'ARM', 'NONE')
    when reason in ('STORED', 'PLUGIN_REFUSED') then 'CLEAR'
    when r.request_kind = 'push' and reason = 'PLUGIN_FAILED' then 'ARM'
    when r.request_kind = 'push' and reason in (
        'NOT_AUTHORIZED', 'COORDINATOR_NOT_ACTIVE', 'NO_PLUGIN', 'NO_MEMBER_ID', 'NO_GROUP_ID', 'NO_DESCRIPTION'
    ) then 'NONE'
    when r.request_kind = 'push' and arms_on_any_failure then 'ARM'
    when reason in ('WRITE_FAILED', 'REFUSAL_NOT_WRITTEN')
        then case
            when r.write_error = 'GROUP_ID_NOT_FOUND' then 'CLEAR_GROUP'
            when {{ coordinator_error('r.write_error') }}
                in ('NOT_COORDINATOR', 'COORDINATOR_LOAD_IN_PROGRESS', 'COORDINATOR_NOT_AVAILABLE') then 'NONE'
            else 'ARM'
        end
    when r.request_kind = 'join' and reason = 'PLUGIN_FAILED' then 'ARM'
    when reason in ('DELETED', 'CONVERTED') then 'CLEAR_GROUP'
    when r.request_kind = 'deletion' and {{ deletes_description() }} and reason not in ('READ_FAILED', 'UNREADABLE', 'NO_GROUP_ID')
        then if(r.outcome = 'success' or clears_backoff_of_failed_delete, 'CLEAR_GROUP', 'NONE')
    else 'NONE'
end
{%- endmacro %}

{# What a client sees of an error inside of the coordinator (CoordinatorOperationExceptionHelper). #}
{% macro coordinator_error(error) -%}
case
    when {{ error }} in ('NOT_LEADER_OR_FOLLOWER', 'KAFKA_STORAGE_ERROR') then 'NOT_COORDINATOR'
    when {{ error }} in ('UNKNOWN_TOPIC_OR_PARTITION', 'NOT_ENOUGH_REPLICAS', 'REQUEST_TIMED_OUT')
        then 'COORDINATOR_NOT_AVAILABLE'
    when {{ error }} = 'NETWORK_EXCEPTION' then 'COORDINATOR_LOAD_IN_PROGRESS'
    when {{ error }} in ('MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_FETCH_SIZE') then 'UNKNOWN_SERVER_ERROR'
    else {{ error }}
end
{%- endmacro %}

{# StreamsGroupTopologyDescriptionBackoff: 30 s, doubled, the cap after the jitter. Of a push an entry of a newer epoch stays. #}
{% macro backoff_after() -%}
case action
    when 'ARM'
        then if(
            r.request_kind = 'push' and b.topology_epoch > armed_epoch,
            b,
            {{ let('attempts', 'if(b.topology_epoch <=> armed_epoch, b.attempts + 1, 0)', backoff_entry()) }}
        )
    when 'CLEAR' then if(b.topology_epoch = armed_epoch, null, b)
    when 'CLEAR_GROUP' then null
    else b
end
{%- endmacro %}

{% macro backoff_entry() -%}
named_struct(
    'topology_epoch', armed_epoch,
    'attempts', attempts,
    'next_attempt_at_ms', coalesce(
        try_add(
            r.received_at_ms,
            least(3600000, floor(r.jitter * (30000 * pow(2.0D, least(attempts, ln(120.0D) / ln(2.0D))))))
        ),
        9223372036854775807
    ),
    'armed_at_ms', r.received_at_ms
)
{%- endmacro %}

{# V3 has written -2 before it called. What a push stored or had refused never goes back to an older epoch. #}
{% macro stored_epoch_after() -%}
case
    when reason = 'STORED' then if(uses_uncertain_epoch, r.pushed_epoch, greatest(s.stored, r.pushed_epoch))
    when reason in ('DELETED', 'CONVERTED') then -1
    when uses_uncertain_epoch and reason in ('PLUGIN_REFUSED', 'PLUGIN_FAILED', 'WRITE_FAILED', 'REFUSAL_NOT_WRITTEN') then -2
    else s.stored
end
{%- endmacro %}

{% macro request_answered() -%}
{{ let('action', backoff_action(), let('after', backoff_after(), request_state_after())) }}
{%- endmacro %}

{% macro request_state_after() -%}
cast(
    named_struct(
        'group_type', case reason when 'DELETED' then null when 'CONVERTED' then 'classic' else s.group_type end,
        'group_state',
        case reason when 'DELETED' then null when 'CONVERTED' then 'PREPARING_REBALANCE' else s.group_state end,
        'stored', {{ stored_epoch_after() }},
        'failed', {{ failed_epoch_after() }},
        'backoff', after,
        'is_waiting', s.is_waiting or reason = 'CALL_WANTED',
        'is_blocked',
        s.is_blocked
        or reason = 'WAITING'
        or (
            reason = 'CALL_WANTED'
            and (r.request_kind = 'join' or (r.request_kind = 'deletion' and s.group_state = 'EMPTY'))
        ),
        'answers', concat(
            s.answers,
            array(
                cast(
                    named_struct(
                        'reason_code', reason,
                        'backoff_action', action,
                        'stored_epoch_before', s.stored,
                        'stored_epoch_after', {{ stored_epoch_after() }},
                        'failed_epoch_before', s.failed,
                        'failed_epoch_after', {{ failed_epoch_after() }},
                        'backoff', after
                    ) as {{ answer_type() }}
                )
            )
        )
    ) as {{ request_state_type() }}
)
{%- endmacro %}

{% macro failed_epoch_after() -%}
case
    when reason = 'PLUGIN_REFUSED' then greatest(s.failed, r.pushed_epoch)
    when reason in ('DELETED', 'CONVERTED') then -1
    else s.failed
end
{%- endmacro %}
