{{ config(materialized='run_list') }}

with

parameters as (

    select * from {{ ref('stg_run__parameters') }}

),

clusters as (

    select * from {{ ref('int_tiers__clusters_configured') }}

),

topics as (

    select * from {{ ref('int_tiers__topics_configured') }}

),

topic_configs as (

    select * from {{ ref('stg_state__topic_configs') }}

),

partitions_stale as (

    select * from {{ ref('int_tiers__partitions_stale') }}

),

last_runs as (

    select * from {{ ref('int_tiers__last_runs') }}

),

changes as (

    {{ partitions_of(ref('stg_state__partition_states')) }}

    union all

    {{ partitions_of(ref('stg_state__leader_epochs')) }}

    union all

    {{ partitions_of(ref('stg_state__local_segments')) }}

    union all

    {{ partitions_of(ref('stg_state__remote_segments')) }}

),

partition_changes as (

    select
        cluster_id,
        topic_id,
        partition_index,
        max(changed_in_run_id) as changed_in_run_id

    from changes

    group by
        cluster_id,
        topic_id,
        partition_index

),

clusters_since as (

    select
        clusters.cluster_id,
        clusters.decided_at_ms,
        last_runs.decided_at_ms as last_decided_at_ms,
        if(
            clusters.run_kind in ('compare', 'what_if'), '', last_runs.run_id
        ) as last_run_id

    from clusters

    left join last_runs using (cluster_id)

),

topics_changed as (

    select distinct
        topic_configs.cluster_id,
        topic_configs.topic_id

    from topic_configs

    inner join clusters_since using (cluster_id)

    where
        topic_configs.run_id > clusters_since.last_run_id
        or topic_configs.valid_from_ms
        between clusters_since.last_decided_at_ms + 1
        and clusters_since.decided_at_ms

),

changes_dated as (

    select
        partition_changes.cluster_id,
        partition_changes.topic_id,
        partition_changes.partition_index,
        coalesce(topics.has_configs, false) as has_configs,
        clusters_since.last_run_id is null
        or partition_changes.changed_in_run_id > clusters_since.last_run_id
        or topics_changed.topic_id is not null as is_changed

    from partition_changes

    inner join clusters_since using (cluster_id)

    left join topics_changed using (cluster_id, topic_id)

    left join topics using (cluster_id, topic_id)

),

topics_dated as (

    select
        *,
        max(is_changed) over (partition by cluster_id, topic_id) as is_topic_changed

    from changes_dated

),

{# a topic is deleted as a whole, and one that nobody tells configs of is tiered
   as a whole: by what lies in tiered storage #}
partitions_changed as (

    select
        cluster_id,
        topic_id,
        partition_index

    from topics_dated

    where is_changed or (is_topic_changed and not has_configs)

),

due as (

    select
        cluster_id,
        topic_id,
        partition_index,
        'changed' as due_because

    from partitions_changed

    union all

    select
        cluster_id,
        topic_id,
        partition_index,
        'stale' as due_because

    from partitions_stale

),

{# what-if asks about one topic: the others need not be decided #}
partitions_due as (

    select due.*

    from due

    cross join parameters

    left join topics using (cluster_id, topic_id)

    where
        parameters.topic_name is null
        or parameters.topic_name = topics.topic_name

)

select * from partitions_due
