with

clusters as (

    select * from {{ ref('int_tiers__clusters_configured') }}

),

topics as (

    select * from {{ ref('int_tiers__topics_configured') }}

),

remote_segments as (

    select * from {{ ref('stg_state__remote_segments') }}

),

segment_times as (

    select * from {{ ref('int_tiers__segment_times') }}

),

segments_dated as (

    select * from {{ ref('int_tiers__segments_dated') }}

),

local_segments as (

    select
        cluster_id,
        topic_id,
        explode(segments.max_timestamp_ms) as max_timestamp_ms

    from {{ ref('stg_state__local_segments') }}

),

instants as (

    select
        cluster_id,
        next_config_at_ms as instant_at_ms

    from topics

    union all

    {# findings: late copies and deletes #}
    select
        segments.cluster_id,
        {{ waits_since_ms('segments') }}
        + {{ may_wait_ms('segments', 'segment_times') }}
        + 1 as instant_at_ms

    from remote_segments as segments

    inner join segment_times
        on
            segments.cluster_id = segment_times.cluster_id
            and segments.topic_id = segment_times.topic_id

    where
        segments.segment_state
        in ('COPY_SEGMENT_STARTED', 'DELETE_SEGMENT_STARTED')

    union all

    {# gauges: the broker's next run after a change #}
    select
        segments.cluster_id,
        explode(
            array(
                try_add(segments.copy_started_at_ms, clusters.task_interval_ms),
                try_add(segments.event_at_ms, clusters.task_interval_ms)
            )
        ) as instant_at_ms

    from remote_segments as segments

    inner join clusters
        on segments.cluster_id = clusters.cluster_id

    union all

    {# local retention, which is the topic's where nothing is copied #}
    select
        local_segments.cluster_id,
        explode(
            transform(
                array(topics.local_retention_ms, topics.retention_ms),
                kept_ms -> try_add(
                    local_segments.max_timestamp_ms, try_add(kept_ms, 1L)
                )
            )
        ) as instant_at_ms

    from local_segments

    inner join topics
        on
            local_segments.cluster_id = topics.cluster_id
            and local_segments.topic_id = topics.topic_id

    union all

    {# the windows of rates: what leaves one #}
    select
        cluster_id,
        explode(
            flatten(
                transform(
                    {{ rate_windows_ms() }},
                    window_ms -> array(
                        try_add(copy_finished_at_ms, window_ms),
                        try_add(delete_finished_at_ms, window_ms),
                        try_add(max_timestamp_ms, window_ms)
                    )
                )
            )
        ) as instant_at_ms

    from segments_dated

),

instants_awaited as (

    select
        clusters.cluster_id,
        min(instants.instant_at_ms) as next_due_at_ms

    from clusters

    inner join instants
        on
            clusters.cluster_id = instants.cluster_id
            and clusters.decided_at_ms < instants.instant_at_ms

    group by clusters.cluster_id

)

select * from instants_awaited
