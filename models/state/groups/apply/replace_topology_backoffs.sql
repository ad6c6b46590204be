{{ config(
    tags='apply_requests',
    unique_key=['cluster_id', 'group_id'],
    meta={
        'into': 'state.topology_backoffs',
        'skips_no_rows': true,
        'delete_when': 's.is_gone',
        'insert_when': 'not s.is_gone'
    }
) }}

-- depends_on: {{ ref('int_groups__decided') }}
-- depends_on: {{ ref('settle_requested_groups') }}

with

clusters as (

    select * from {{ ref('int_groups__clusters_configured') }}

    where is_applied

),

backoffs as (

    select
        cluster_id,
        group_id,
        struct(topology_epoch, attempts, next_attempt_at_ms, armed_at_ms) as backoff,
        armed_log_offset

    from {{ ref('stg_state__topology_backoffs') }}

),

state_groups as (

    select * from {{ ref('stg_state__groups') }}

),

results as (

    select * from {{ ref('int_groups__request_decisions_gathered') }}

),

unloads as (

    select
        cluster_id,
        offsets_partition_index,
        max(at_ms) as unloaded_at_ms

    from {{ ref('stg_raw__coordinator_unloads') }}

    group by
        cluster_id,
        offsets_partition_index

),

{# as the run's last request of the group left it #}
backoffs_left as (

    select
        results.cluster_id,
        results.group_id,
        max_by(
            struct(results.backoff),
            struct(
                results.received_at_ms,
                results.request_id,
                results.request_kind
            )
        ).backoff as backoff

    from results

    inner join clusters using (cluster_id, run_id)

    group by
        results.cluster_id,
        results.group_id

),

{# else as it was #}
backoffs_now as (

    select
        cluster_id,
        group_id,
        if(backoffs_left.group_id is null, backoffs.backoff, backoffs_left.backoff) as backoff,
        if(
            backoffs_left.group_id is null, backoffs.armed_log_offset, state_groups.log_offset
        ) as armed_log_offset,
        backoffs.backoff as stored_backoff,
        unloads.unloaded_at_ms

    from backoffs_left

    full outer join backoffs using (cluster_id, group_id)

    left join state_groups using (cluster_id, group_id)

    left join unloads using (cluster_id, offsets_partition_index)

),

{# Kafka keeps the entry of a group that vanished; here it goes #}
backoffs_judged as (

    select
        backoffs_now.cluster_id,
        backoffs_now.group_id,
        backoffs_now.backoff,
        backoffs_now.armed_log_offset,
        backoffs_now.stored_backoff,
        clusters.run_id as changed_in_run_id,
        backoffs_now.backoff is null
        or coalesce(
            clusters.drops_backoffs_on_unload
            and backoffs_now.backoff.armed_at_ms <= backoffs_now.unloaded_at_ms,
            false
        )
        or state_groups.group_id is null as is_gone

    from backoffs_now

    inner join clusters using (cluster_id)

    left join state_groups
        on {{ is_of_this_group('backoffs_now', 'state_groups') }}

),

{# without a row there is nothing to delete, and what stays needs no write #}
backoffs_changed as (

    select
        cluster_id,
        group_id,
        backoff.topology_epoch,
        backoff.attempts,
        backoff.next_attempt_at_ms,
        backoff.armed_at_ms,
        armed_log_offset,
        changed_in_run_id,
        is_gone

    from backoffs_judged

    where
        if(
            is_gone,
            stored_backoff is not null,
            not (
                backoff.armed_at_ms <=> stored_backoff.armed_at_ms
                and backoff.attempts <=> stored_backoff.attempts
                and backoff.topology_epoch <=> stored_backoff.topology_epoch
            )
        )

)

select * from backoffs_changed
