{{ config(materialized='run_list') }}

with

clusters as (

    select * from {{ ref('int_groups__clusters_configured') }}

),

requests as (

    select * from {{ ref('int_groups__requests_unanswered') }}

),

state_groups as (

    select * from {{ ref('stg_state__groups') }}

    where not is_deleted

),

group_records as (

    select * from {{ ref('stg_state__group_records') }}

),

calls as (

    select * from {{ ref('int_groups__plugin_calls_made') }}

),

backoffs as (

    select * from {{ ref('stg_state__topology_backoffs') }}

),

unloads as (

    select * from {{ ref('stg_raw__coordinator_unloads') }}

),

members as (

    select distinct
        cluster_id,
        group_id,
        member_id

    from group_records

    where
        record_type = 19
        and not is_tombstone

),

{# what is not applied is foretold: the plugin does what it is asked #}
groups_asked as (

    select
        requests.cluster_id,
        requests.group_id,
        sort_array(
            collect_list(
                struct(
                    requests.received_at_ms,
                    requests.request_id,
                    requests.request_kind,
                    requests.is_of_no_group,
                    coalesce(
                        requests.jitter,
                        0.8D
                        + 0.4D * crc32(requests.request_id) / 4294967295D
                    ) as jitter,
                    requests.member_id,
                    requests.request_version,
                    requests.member_epoch,
                    requests.response_error,
                    requests.status_codes,
                    requests.pushed_epoch,
                    requests.has_description,
                    requests.description_error,
                    requests.findings,
                    nullif(requests.coordinator_error, 'NONE') as coordinator_error,
                    nullif(requests.authorization_error, 'NONE') as authorization_error,
                    nullif(requests.write_error, 'NONE') as write_error,
                    nullif(requests.read_error, 'NONE') as read_error,
                    members.member_id is not null as is_member,
                    requests.call_id,
                    calls.call_id is not null as is_called,
                    if(requests.is_applied, calls.outcome, 'success')
                        as outcome,
                    if(
                        clusters.tells_plugin_messages,
                        coalesce(calls.withheld_message, calls.message),
                        calls.message
                    ) as message
                )
            )
        ) as requests

    from requests

    inner join clusters using (cluster_id)

    left join members using (cluster_id, group_id, member_id)

    left join calls using (call_id)

    group by
        requests.cluster_id,
        requests.group_id

),

partitions_unloaded as (

    select
        cluster_id,
        offsets_partition_index,
        collect_list(at_ms) as unloads

    from unloads

    group by
        cluster_id,
        offsets_partition_index

),

groups_due as (

    select
        groups_asked.cluster_id,
        groups_asked.group_id,
        clusters.run_id,
        clusters.ruleset,
        clusters.decided_at_ms,
        clusters.has_plugin,
        clusters.uses_uncertain_epoch,
        clusters.tells_plugin_messages,
        clusters.arms_on_any_failure,
        clusters.clears_backoff_of_failed_delete,
        state_groups.group_type,
        state_groups.group_state,
        coalesce(state_groups.is_readable, true) as is_readable,
        if(state_groups.group_type = 'streams', state_groups.topology_epoch, -1)
            as topology_epoch,
        {# what the run wrote before it called is no part of what was there #}
        coalesce(
            if(
                state_groups.epochs_written_in_run_id = clusters.run_id,
                state_groups.stored_epoch_before_barrier,
                null
            ),
            state_groups.stored_description_topology_epoch,
            -1
        ) as stored_epoch,
        coalesce(state_groups.failed_description_topology_epoch, -1)
            as failed_epoch,
        if(
            backoffs.group_id is null,
            null,
            struct(
                backoffs.topology_epoch,
                backoffs.attempts,
                backoffs.next_attempt_at_ms,
                backoffs.armed_at_ms
            )
        ) as backoff,
        if(
            clusters.drops_backoffs_on_unload,
            coalesce(partitions_unloaded.unloads, array()),
            array()
        ) as unloads,
        groups_asked.requests

    from groups_asked

    inner join clusters
        on groups_asked.cluster_id = clusters.cluster_id

    left join state_groups
        on
            groups_asked.cluster_id = state_groups.cluster_id
            and groups_asked.group_id = state_groups.group_id

    left join backoffs
        on {{ is_of_this_group('backoffs', 'state_groups') }}

    left join partitions_unloaded
        on
            state_groups.cluster_id = partitions_unloaded.cluster_id
            and state_groups.offsets_partition_index
            = partitions_unloaded.offsets_partition_index

)

select * from groups_due
