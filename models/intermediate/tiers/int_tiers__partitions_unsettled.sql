with

upload_candidates as (

    select * from {{ ref('stg_decisions__upload_candidates') }}

),

local_segments as (

    select * from {{ ref('stg_state__local_segments') }}

),

partition_states as (

    select * from {{ ref('stg_state__partition_states') }}

),

partitions_decided as (

    select * from {{ ref('int_tiers__partitions_decided') }}

    where is_seen

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

partitions_unsettled as (

    select * from without_snapshot

    union distinct

    select * from without_lineage

    union distinct

    select
        cluster_id,
        topic_id,
        partition_index

    from lag_compared

    where
        (is_measured and is_led_otherwise)
        or (is_tiered and not is_measured)
        or (is_measured and not is_tiered and not has_deletes)

)

select * from partitions_unsettled
