{{ config(
    tags='apply_requests',
    unique_key=['cluster_id', 'group_id'],
    meta={
        'into': 'state.groups',
        'skips_no_rows': true,
        'matched_condition': 'not t.is_deleted and not t.description_settled_in_run_id <=> s.run_id'
            ~ " and (if(s.removed_by is null, t.group_type = 'streams', t.group_state = 'EMPTY')"
            ~ ' or s.needs_finalise)',
        'update_set': settled_group_columns(),
        'insert_when': false
    }
) }}

-- depends_on: {{ ref('int_groups__decided') }}

with

clusters as (

    select * from {{ ref('int_groups__clusters_configured') }}

    where is_applied

),

push_results as (

    select * from {{ ref('int_groups__topology_push_results_decided') }}

    where outcome <> 'rejected'

),

deletion_results as (

    select * from {{ ref('int_groups__group_deletion_results_decided') }}

),

join_results as (

    select * from {{ ref('int_groups__classic_join_results_decided') }}

),

calls as (

    select * from {{ ref('int_groups__plugin_calls_made') }}

    where
        operation = 'delete'
        and outcome = 'success'

),

results as (

    select
        cluster_id,
        group_id,
        run_id,
        cast(null as string) as removed_by,
        call_id,
        struct(received_at_ms, request_id) as place,
        stored_epoch_after,
        failed_epoch_after,
        reason_code in ('STORED', 'PLUGIN_REFUSED') as is_written

    from push_results

    union all

    select
        cluster_id,
        group_id,
        run_id,
        if(decision = 'deleted', 'delete_groups', null) as removed_by,
        call_id,
        struct(received_at_ms, request_id) as place,
        cast(null as int) as stored_epoch_after,
        cast(null as int) as failed_epoch_after,
        decision = 'deleted' as is_written

    from deletion_results

    union all

    select
        cluster_id,
        group_id,
        run_id,
        if(decision = 'converted', 'classic_join', null) as removed_by,
        call_id,
        struct(received_at_ms, request_id) as place,
        cast(null as int) as stored_epoch_after,
        cast(null as int) as failed_epoch_after,
        decision = 'converted' as is_written

    from join_results

),

groups_settled as (

    select
        results.cluster_id,
        results.group_id,
        results.run_id,
        clusters.uses_uncertain_epoch as is_behind_barrier,
        max(results.removed_by) as removed_by,
        bool_or(calls.call_id is not null and clusters.uses_uncertain_epoch)
            as needs_finalise,
        max_by(results.stored_epoch_after, results.place) filter (
            where results.stored_epoch_after is not null
        ) as stored_epoch_after,
        max(results.failed_epoch_after) as failed_epoch_after

    from results

    inner join clusters
        on
            results.cluster_id = clusters.cluster_id
            and results.run_id = clusters.run_id

    left join calls
        on results.call_id = calls.call_id

    group by
        results.cluster_id,
        results.group_id,
        results.run_id,
        clusters.uses_uncertain_epoch

    {# a call that failed leaves the epochs as they are; one that succeeded is
       settled though a member came back meanwhile and the group stays #}
    having bool_or(results.is_written) or needs_finalise

)

select * from groups_settled
