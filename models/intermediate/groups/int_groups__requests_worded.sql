with

requests_handled as (

    select * from {{ ref('int_groups__requests_handled') }}

),

requests_worded as (

    select
        cluster_id,
        group_id,
        run_id,
        ruleset,
        decided_at_ms,
        uses_uncertain_epoch,
        topology_epoch,
        place,
        request_kind,
        request_id,
        received_at_ms,
        member_id,
        call_id,
        pushed_epoch,
        findings,
        reason_code,
        outcome,
        case
            when request_kind = 'deletion'
                then if(
                    reason_code = 'PLUGIN_FAILED' and request_version >= 3,
                    if(
                        tells_plugin_messages,
                        plugin_message,
                        'Topology description plugin failed to delete the topology.'
                    ),
                    null
                )
            when request_kind <> 'push' then null
            when reason_code = 'NO_PLUGIN'
                then 'The broker has no streams group topology description plugin configured.'
            when reason_code = 'NO_MEMBER_ID' then "MemberId can't be empty."
            when reason_code = 'NO_GROUP_ID' then "GroupId can't be empty."
            when reason_code = 'NO_DESCRIPTION' then "TopologyDescription can't be null."
            when reason_code = 'GROUP_NOT_FOUND' then concat('Group ', group_id, ' not found.')
            when reason_code = 'NOT_STREAMS'
                then concat('Group ', group_id, ' is not a streams group.')
            when reason_code = 'UNKNOWN_MEMBER'
                then concat('Member ', member_id, ' is not a member of group ', group_id, '.')
            when reason_code = 'EPOCH_MISMATCH'
                then concat(
                    'Topology epoch ', pushed_epoch,
                    " does not match the group's current topology epoch ", topology_epoch, '.'
                )
            when reason_code = 'INVALID_DESCRIPTION' then description_error
            when reason_code in ('PLUGIN_FAILED', 'PLUGIN_REFUSED') then plugin_message
        end as message,
        case
            when reason_code in ('STORED', 'DELETED', 'CONVERTED') or request_kind = 'heartbeat'
                then 'NONE'
            {# so that the client tries again #}
            when reason_code in ('CALL_WANTED', 'WAITING')
                then if(request_kind = 'join', 'REBALANCE_IN_PROGRESS', 'NOT_COORDINATOR')
            when reason_code = 'NOT_AUTHORIZED' then authorization_error
            when reason_code = 'COORDINATOR_NOT_ACTIVE' then 'COORDINATOR_NOT_AVAILABLE'
            when reason_code = 'NO_PLUGIN' then 'UNSUPPORTED_VERSION'
            when request_kind = 'deletion' and reason_code = 'NO_GROUP_ID' then 'INVALID_GROUP_ID'
            when
                reason_code in (
                    'NO_MEMBER_ID', 'NO_GROUP_ID', 'NO_DESCRIPTION', 'EPOCH_MISMATCH',
                    'INVALID_DESCRIPTION'
                )
                then 'INVALID_REQUEST'
            when reason_code = 'COORDINATOR_FAILED'
                then {{ coordinator_error('coordinator_error') }}
            when reason_code = 'READ_FAILED' then {{ coordinator_error('read_error') }}
            when reason_code in ('WRITE_FAILED', 'REFUSAL_NOT_WRITTEN')
                then if(arms_on_any_failure, write_error, {{ coordinator_error('write_error') }})
            when reason_code = 'UNREADABLE' then 'UNKNOWN_SERVER_ERROR'
            when request_kind = 'join'
                then case
                    when reason_code in ('PLUGIN_FAILED', 'THROTTLED') then 'REBALANCE_IN_PROGRESS'
                    when reason_code = 'NOT_EMPTY' then 'INCONSISTENT_GROUP_PROTOCOL'
                    else 'NONE'
                end
            when reason_code in ('GROUP_NOT_FOUND', 'NOT_STREAMS') then 'GROUP_ID_NOT_FOUND'
            when reason_code = 'UNKNOWN_MEMBER' then 'UNKNOWN_MEMBER_ID'
            when reason_code = 'NOT_EMPTY' then 'NON_EMPTY_GROUP'
            when request_kind = 'push' then 'STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED'
            when request_version < 3 then 'UNKNOWN_SERVER_ERROR'
            else 'GROUP_DELETION_FAILED'
        end as error_code,
        request_version,
        backoff_action,
        stored_epoch_before,
        stored_epoch_after,
        failed_epoch_before,
        failed_epoch_after,
        backoff

    from requests_handled

)

select * from requests_worded
