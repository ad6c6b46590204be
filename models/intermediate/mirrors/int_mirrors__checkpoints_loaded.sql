with

loaded as (

    select * from {{ ref('stg_run__checkpoints') }}

),

records as (

    select * from {{ ref('stg_decoded__checkpoints') }}

),

flows as (

    select * from {{ ref('int_mirrors__flows_configured') }}

),

records_to_fold as (

    select
        flows.flow,
        flows.run_id as fold_run_id,
        {{ source_topic_name('flows', 'loaded.topic_name') }}
            as source_topic_name,
        loaded.*

    from loaded

    inner join flows
        on
            loaded.cluster_id = flows.target_cluster_id
            and loaded.log_topic_name = flows.checkpoints_topic_name
            and not flows.is_refolded

    union all

    select
        flows.flow,
        flows.run_id as fold_run_id,
        {{ source_topic_name('flows', 'records.topic_name') }}
            as source_topic_name,
        records.*

    from records

    inner join flows
        on
            records.cluster_id = flows.target_cluster_id
            and records.log_topic_name = flows.checkpoints_topic_name
            and flows.is_refolded

),

{# MirrorMaker passes by what it cannot read, and goes on from the checkpoint before #}
latest as (

    select
        *,
        row_number() over (
            partition by flow, group_id, topic_name, partition_index
            order by log_offset desc
        ) as recency

    from records_to_fold

    where decode_status in ('ok', 'ok_trailing', 'tombstone')

),

checkpoints_loaded as (

    select
        flow,
        group_id,
        topic_name as target_topic_name,
        partition_index,
        source_topic_name as topic_name,
        upstream_offset,
        downstream_offset,
        metadata,
        log_offset,
        recorded_at_ms as emitted_at_ms,
        fold_run_id as changed_in_run_id

    from latest

    where recency = 1

)

select * from checkpoints_loaded
