with

clusters as (

    select * from {{ ref('int_tiers__clusters_configured') }}

),

upload_candidates as (

    select * from {{ ref('stg_decisions__upload_candidates') }}

),

delete_candidates as (

    select * from {{ ref('stg_decisions__delete_candidates') }}

),

local_segments as (

    select * from {{ ref('stg_state__local_segments') }}

),

partition_states as (

    select * from {{ ref('stg_state__partition_states') }}

),

partitions_led as (

    select * from {{ ref('int_tiers__partitions_led') }}

),

topics as (

    select * from {{ ref('int_tiers__topics_configured') }}

),

lag_measured as (

    select * from {{ ref('stg_state__tier_lag') }}

),

decisions as (

    select
        cluster_id,
        topic_id,
        partition_index,
        reason_code,
        run_id,
        settings_hash,
        ruleset,
        decided_at_ms,
        next_due_at_ms

    from upload_candidates

    union all

    select
        cluster_id,
        topic_id,
        partition_index,
        reason_code,
        run_id,
        settings_hash,
        ruleset,
        decided_at_ms,
        next_due_at_ms

    from delete_candidates

),

partitions_decided as (

    select
        cluster_id,
        topic_id,
        partition_index,
        settings_hash,
        ruleset,
        min(next_due_at_ms) as next_due_at_ms,
        max(decided_at_ms) as decided_at_ms,
        max(run_id) as run_id,
        bool_or(reason_code not in ('NO_SNAPSHOT', 'TOPIC_DELETED'))
            as is_seen

    from decisions

    group by
        cluster_id,
        topic_id,
        partition_index,
        settings_hash,
        ruleset

),

come_due as (

    select
        decided.cluster_id,
        decided.topic_id,
        decided.partition_index

    from partitions_decided as decided

    inner join clusters using (cluster_id)

    where
        {{ is_decision_stale('decided', 'clusters') }}
        {# a run that was killed after it had decided #}
        or decided.run_id = clusters.run_id

),

without_snapshot as (

    select
        candidates.cluster_id,
        candidates.topic_id,
        candidates.partition_index

    from upload_candidates as candidates

    left join local_segments using (cluster_id, topic_id, partition_index, broker_id)

    left join partition_states using (cluster_id, topic_id, partition_index, broker_id)

    where
        local_segments.cluster_id is null
        or (
            partition_states.cluster_id is null
            and candidates.reason_code <> 'NO_SNAPSHOT'
        )

),

without_lineage as (

    select
        decided.cluster_id,
        decided.topic_id,
        decided.partition_index

    from partitions_decided as decided

    left anti join partitions_led as led
        on
            decided.cluster_id = led.cluster_id
            and decided.topic_id = led.topic_id
            and decided.partition_index = led.partition_index
            and led.epochs is not null

    where decided.is_seen

),

{# of what is led now, and of what was measured #}
lag_compared as (

    select
        coalesce(led.cluster_id, measured.cluster_id) as cluster_id,
        coalesce(led.topic_id, measured.topic_id) as topic_id,
        coalesce(led.partition_index, measured.partition_index)
            as partition_index,
        coalesce(measured.is_measured, false) as is_measured,
        measured.delete_lag_segments > 0 as has_deletes,
        not led.broker_id <=> measured.broker_id as is_led_otherwise,
        led.broker_id is not null
        and coalesce(topics.is_tiered, false) as is_tiered

    from partitions_led as led

    full outer join lag_measured as measured
        on
            led.cluster_id = measured.cluster_id
            and led.topic_id = measured.topic_id
            and led.partition_index = measured.partition_index

    left join topics
        on led.cluster_id = topics.cluster_id and led.topic_id = topics.topic_id

),

{# what is gone leaves no row that changed #}
unsettled as (

    select * from without_snapshot

    union all

    select * from without_lineage

    union all

    select
        cluster_id,
        topic_id,
        partition_index

    from lag_compared

    where
        (is_measured and is_led_otherwise)
        or (is_tiered and not is_measured)
        or (is_measured and not is_tiered and not has_deletes)

),

partitions_stale as (

    select * from come_due

    union distinct

    select unsettled.*

    from unsettled

    left semi join clusters using (cluster_id)

)

select * from partitions_stale
