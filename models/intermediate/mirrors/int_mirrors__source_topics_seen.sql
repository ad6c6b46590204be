with

stored as (

    select * from {{ ref('stg_state__source_topics') }}

),

loaded as (

    select * from {{ ref('stg_run__partition_states') }}

),

snapshots as (

    select * from {{ ref('stg_raw__partition_states') }}

),

loaded_commits as (

    select * from {{ ref('stg_run__records') }}

    where record_type = 1

),

commits as (

    select * from {{ ref('stg_decoded__group_records') }}

    where record_type = 1

),

flows as (

    select * from {{ ref('int_mirrors__flows_configured') }}

),

{# a target that was created anew holds other records under the same offsets #}
clusters as (

    select
        explode(array(source_cluster_id, target_cluster_id)) as cluster_id,
        is_refolded

    from flows

),

{# what was loaded before there was a flow of the cluster, or before its topics were kept #}
clusters_to_read as (

    select cluster_id

    from clusters

    where is_refolded

    union all

    select loaded.cluster_id

    from loaded

    left semi join clusters on loaded.cluster_id = clusters.cluster_id

    left anti join stored on loaded.cluster_id = stored.cluster_id

),

sightings as (

    select
        cluster_id,
        topic_name,
        topic_id,
        first_seen_at_ms,
        last_seen_at_ms,
        first_committed_at_ms,
        true as is_stored

    from stored

    union all

    select
        loaded.cluster_id,
        loaded.topic_name,
        loaded.topic_id,
        loaded.taken_at_ms as first_seen_at_ms,
        loaded.taken_at_ms as last_seen_at_ms,
        null as first_committed_at_ms,
        false as is_stored

    from loaded

    left semi join clusters on loaded.cluster_id = clusters.cluster_id

    union all

    select
        loaded_commits.cluster_id,
        loaded_commits.committed_topic_name as topic_name,
        loaded_commits.topic_id,
        null as first_seen_at_ms,
        null as last_seen_at_ms,
        loaded_commits.commit_at_ms as first_committed_at_ms,
        false as is_stored

    from loaded_commits

    left semi join flows on loaded_commits.cluster_id = flows.source_cluster_id

    union all

    select
        snapshots.cluster_id,
        snapshots.topic_name,
        snapshots.topic_id,
        snapshots.taken_at_ms as first_seen_at_ms,
        snapshots.taken_at_ms as last_seen_at_ms,
        null as first_committed_at_ms,
        false as is_stored

    from snapshots

    left semi join clusters_to_read as to_read
        on snapshots.cluster_id = to_read.cluster_id

    union all

    select
        commits.cluster_id,
        commits.committed_topic_name as topic_name,
        commits.topic_id,
        null as first_seen_at_ms,
        null as last_seen_at_ms,
        commits.commit_at_ms as first_committed_at_ms,
        false as is_stored

    from commits

    left semi join flows
        on
            commits.cluster_id = flows.source_cluster_id
            and flows.is_refolded

),

source_topics_seen as (

    select
        cluster_id,
        topic_name,
        topic_id,
        min(first_seen_at_ms) as first_seen_at_ms,
        max(last_seen_at_ms) as last_seen_at_ms,
        min(first_committed_at_ms) as first_committed_at_ms,
        min(first_seen_at_ms) filter (where is_stored) as stored_first_seen_at_ms,
        max(last_seen_at_ms) filter (where is_stored) as stored_last_seen_at_ms,
        min(first_committed_at_ms) filter (where is_stored) as stored_first_committed_at_ms

    from sightings

    where topic_id is not null

    group by
        cluster_id,
        topic_name,
        topic_id

)

select * from source_topics_seen
