with

group_sweeps as (

    select * from {{ ref('int_groups__group_sweeps_decided') }}

    where decision = 'defer'

),

{# the gate is asked of the live group: a cycle may have opened it since #}
groups_held as (

    select * from {{ ref('stg_state__groups') }}

    where not is_deleted and stored_description_topology_epoch <> -1

),

decision_changes as (

    select * from {{ ref('stg_history__decision_changes') }}

),

deletes as (

    select * from {{ ref('stg_history__plugin_calls') }}

    where operation = 'delete'

),

last_successes as (

    select
        cluster_id,
        group_id,
        max(finished_at_ms) as finished_at_ms

    from deletes

    where outcome = 'success'

    group by
        cluster_id,
        group_id

),

failures_counted as (

    select
        deletes.cluster_id,
        deletes.group_id,
        count(*) as failed_attempts,
        max_by(deletes.outcome, deletes.finished_at_ms) as last_outcome,
        max_by(deletes.message, deletes.finished_at_ms) as last_plugin_message,
        max(deletes.finished_at_ms) as last_failed_at_ms

    from deletes

    left join last_successes using (cluster_id, group_id)

    where
        deletes.outcome <> 'success'
        and deletes.finished_at_ms > coalesce(last_successes.finished_at_ms, 0)

    group by
        deletes.cluster_id,
        deletes.group_id

),

deferred_groups as (

    select
        group_sweeps.cluster_id,
        group_sweeps.group_id,
        groups_held.stored_description_topology_epoch,
        timestamp_millis(
            coalesce(
                decision_changes.decided_at_ms, group_sweeps.decided_at_ms
            )
        ) as deferred_since,
        coalesce(failures_counted.failed_attempts, 0) as failed_attempts,
        failures_counted.last_outcome,
        failures_counted.last_plugin_message,
        {{ instant('failures_counted.last_failed_at_ms') }} as last_failed_at

    from group_sweeps

    inner join groups_held using (cluster_id, group_id)

    left join decision_changes
        on
            decision_changes.domain = 'groups'
            and group_sweeps.cluster_id = decision_changes.cluster_id
            and concat('sweep ', group_sweeps.group_id)
            = decision_changes.subject
            and group_sweeps.changed_in_run_id = decision_changes.run_id

    left join failures_counted using (cluster_id, group_id)

)

select * from deferred_groups
