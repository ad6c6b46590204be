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

    select * from {{ ref('stg_state__topology_backoffs') }}

),

state_groups as (

    select * from {{ ref('stg_state__groups') }}

),

unloads as (

    select * from {{ ref('stg_raw__coordinator_unloads') }}

),

results as (

    select * from {{ ref('int_groups__request_decisions_gathered') }}

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
        backoffs_left.cluster_id,
        backoffs_left.group_id,
        backoffs_left.backoff,
        state_groups.log_offset as armed_log_offset

    from backoffs_left

    left join state_groups using (cluster_id, group_id)

    union all

    select
        backoffs.cluster_id,
        backoffs.group_id,
        struct(
            backoffs.topology_epoch,
            backoffs.attempts,
            backoffs.next_attempt_at_ms,
            backoffs.armed_at_ms
        ) as backoff,
        backoffs.armed_log_offset

    from backoffs

    left semi join clusters using (cluster_id)

    left anti join backoffs_left using (cluster_id, group_id)

),

backoffs_unloaded as (

    select distinct
        backoffs_now.cluster_id,
        backoffs_now.group_id

    from backoffs_now

    inner join clusters
        on
            backoffs_now.cluster_id = clusters.cluster_id
            and clusters.drops_backoffs_on_unload

    inner join state_groups
        on
            backoffs_now.cluster_id = state_groups.cluster_id
            and backoffs_now.group_id = state_groups.group_id

    inner join unloads
        on
            state_groups.cluster_id = unloads.cluster_id
            and state_groups.offsets_partition_index
            = unloads.offsets_partition_index
            and backoffs_now.backoff.armed_at_ms <= unloads.at_ms

),

{# Kafka keeps the entry of a group that vanished; here it goes #}
backoffs_judged as (

    select
        backoffs_now.cluster_id,
        backoffs_now.group_id,
        backoffs_now.backoff.topology_epoch,
        backoffs_now.backoff.attempts,
        backoffs_now.backoff.next_attempt_at_ms,
        backoffs_now.backoff.armed_at_ms,
        backoffs_now.armed_log_offset,
        clusters.run_id as changed_in_run_id,
        backoffs_now.backoff is null
        or backoffs_unloaded.group_id is not null
        or state_groups.group_id is null as is_gone

    from backoffs_now

    inner join clusters
        on backoffs_now.cluster_id = clusters.cluster_id

    left join state_groups
        on {{ is_of_this_group('backoffs_now', 'state_groups') }}

    left join backoffs_unloaded
        on
            backoffs_now.cluster_id = backoffs_unloaded.cluster_id
            and backoffs_now.group_id = backoffs_unloaded.group_id

),

{# without a row there is nothing to delete, and what stays needs no write #}
backoffs_changed as (

    select backoffs_judged.*

    from backoffs_judged

    left join backoffs
        on
            backoffs_judged.cluster_id = backoffs.cluster_id
            and backoffs_judged.group_id = backoffs.group_id

    where
        if(
            backoffs_judged.is_gone,
            backoffs.group_id is not null,
            not (
                backoffs_judged.armed_at_ms <=> backoffs.armed_at_ms
                and backoffs_judged.attempts <=> backoffs.attempts
                and backoffs_judged.topology_epoch <=> backoffs.topology_epoch
            )
        )

)

select * from backoffs_changed
