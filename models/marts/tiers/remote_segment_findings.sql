with

remote_segments as (

    select * from {{ ref('stg_state__remote_segments') }}

),

clusters as (

    select * from {{ ref('int_tiers__clusters_known') }}

),

findings as (

    select
        cluster_id,
        segment_id,
        finding,
        since_at_ms,
        threshold_ms,
        other_segment_id,
        cast(null as bigint) as first_missing_offset,
        cast(null as bigint) as last_missing_offset,
        detail_text,
        if(
            finding = 'SUPERSEDED',
            concat(
                'no copy is to be waited for: retention deletes it when it comes ',
                'to these offsets, or delete it in the object store'
            ),
            null
        ) as advice

    from {{ ref('int_tiers__segments_late') }}

    union all

    select
        segments.cluster_id,
        segments.segment_id,
        topics_left.finding,
        topics_left.since_at_ms,
        null as threshold_ms,
        null as other_segment_id,
        null as first_missing_offset,
        null as last_missing_offset,
        topics_left.detail_text,
        topics_left.advice

    from remote_segments as segments

    inner join {{ ref('int_tiers__topics_left') }} as topics_left using (cluster_id, topic_id)

    {# of what is marked for deletion a broker has taken care, or its age tells #}
    where segments.segment_state in ('COPY_SEGMENT_STARTED', 'COPY_SEGMENT_FINISHED')

    union all

    select
        cluster_id,
        segment_id,
        finding,
        since_at_ms,
        null as threshold_ms,
        other_segment_id,
        first_missing_offset,
        last_missing_offset,
        if(
            finding = 'OVERLAP',
            concat(shared_offsets, ' offsets are stored and counted twice'),
            concat(
                last_missing_offset + 1 - first_missing_offset,
                ' offsets are in no finished segment'
            )
        ) as detail_text,
        null as advice

    from {{ ref('int_tiers__segments_misaligned') }}

    union all

    select
        cluster_id,
        segment_id,
        'ORPHAN' as finding,
        since_at_ms,
        null as threshold_ms,
        other_segment_id,
        null as first_missing_offset,
        null as last_missing_offset,
        if(
            other_segment_id is null,
            'of no epoch of the lineage: only when all are later it is deleted',
            'overwritten by a segment that ends earlier: nothing deletes it'
        ) as detail_text,
        null as advice

    from {{ ref('int_tiers__segments_orphaned') }}

),

remote_segment_findings as (

    select
        findings.cluster_id,
        findings.finding,
        findings.segment_id,
        segments.topic_id,
        segments.topic_name,
        segments.partition_index,
        if(
            findings.finding = 'DANGLING_DELETE',
            segments.broker_id,
            segments.started_broker_id
        ) as broker_id,
        segments.start_offset,
        segments.end_offset,
        segments.size_bytes,
        findings.since_at_ms,
        {{ instant('findings.since_at_ms') }} as since_at,
        {{ long_difference('clusters.decided_at_ms', 'findings.since_at_ms') }} as age_ms,
        findings.threshold_ms,
        findings.other_segment_id,
        findings.first_missing_offset,
        findings.last_missing_offset,
        findings.detail_text as detail,  -- noqa: RF04
        findings.advice

    from findings

    inner join remote_segments as segments using (cluster_id, segment_id)

    left join clusters using (cluster_id)

)

select * from remote_segment_findings
