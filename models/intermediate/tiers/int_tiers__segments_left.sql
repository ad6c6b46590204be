with

{# of what is marked for deletion a broker has taken care, or its age tells #}
remote_segments as (

    select * from {{ ref('stg_state__remote_segments') }}

    where segment_state in ('COPY_SEGMENT_STARTED', 'COPY_SEGMENT_FINISHED')

),

topics_gone as (

    select * from {{ ref('int_tiers__topics_gone') }}

),

topics_untiered as (

    select * from {{ ref('int_tiers__topics_configured') }}

    where not is_tiered

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

),

segments_left as (

    select
        remote_segments.cluster_id,
        remote_segments.segment_id,
        topics_left.finding,
        topics_left.since_at_ms,
        topics_left.detail_text,
        topics_left.advice

    from remote_segments

    inner join topics_left using (cluster_id, topic_id)

)

select * from segments_left
