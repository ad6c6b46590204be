with

partition_states as (

    select * from {{ ref('stg_state__partition_states') }}

),

remote_segments as (

    select * from {{ ref('stg_state__remote_segments') }}

),

topics_untiered as (

    select * from {{ ref('int_tiers__topics_configured') }}

    where not is_tiered

),

clusters_seen as (

    select
        cluster_id,
        nullif(max(taken_at_ms), 0) as seen_at_ms

    from partition_states

    group by cluster_id

),

{# without its id a topic may be any that has its name #}
names_seen as (

    select
        cluster_id,
        topic_name,
        max_by(topic_id, taken_at_ms) as topic_id,
        bool_or(topic_id is null) as is_unidentified

    from partition_states

    group by
        cluster_id,
        topic_name

),

topics_seen as (

    select
        cluster_id,
        topic_id

    from partition_states

    where topic_id is not null

    group by
        cluster_id,
        topic_id

),

topics_unseen as (

    select
        segments.cluster_id,
        segments.topic_id,
        max(segments.topic_name) as topic_name,
        max(greatest(segments.copy_started_at_ms, segments.copy_finished_at_ms))
            as last_copy_at_ms

    from remote_segments as segments

    left anti join topics_seen using (cluster_id, topic_id)

    group by
        segments.cluster_id,
        segments.topic_id

),

{# what was copied after the snapshot may be of a topic that is newer than it #}
topics_gone as (

    select
        unseen.cluster_id,
        unseen.topic_id,
        names_seen.topic_id as present_topic_id

    from topics_unseen as unseen

    inner join clusters_seen using (cluster_id)

    left join names_seen
        on
            unseen.cluster_id = names_seen.cluster_id
            and unseen.topic_name = names_seen.topic_name

    where
        coalesce(unseen.last_copy_at_ms <= clusters_seen.seen_at_ms, true)
        and not coalesce(names_seen.is_unidentified, false)

),

topics_left as (

    select
        cluster_id,
        topic_id,
        'ORPHANED' as finding,
        cast(null as bigint) as since_at_ms,
        if(
            present_topic_id is null,
            'no topic has this id any more',
            concat('the topic of this name has the id ', present_topic_id)
        ) as detail_text,
        'no broker reads or deletes it: delete it in the object store'
            as advice

    from topics_gone

    union all

    select
        cluster_id,
        topic_id,
        'LEFT_BEHIND' as finding,
        configs_from_ms as since_at_ms,
        if(
            is_deleted_on_disable,
            'tiered storage is off, and its deletion did not come so far',
            'tiered storage is off, and remote.log.delete.on.disable is false'
        ) as detail_text,
        concat(
            'no broker reads or deletes it: switch remote.storage.enable on ',
            'again, and off with remote.log.delete.on.disable = true if it is ',
            'to go'
        ) as advice

    from topics_untiered

)

select * from topics_left
