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

latest as (

    select
        *,
        row_number() over (
            partition by flow, group_id, topic_name, partition_index
            order by log_offset desc
        ) as recency

    from records_to_fold

    where
        group_id is not null
        and topic_name is not null
        and partition_index is not null

),

{# a value that cannot be read tells that there was a checkpoint, not which #}
latest_read as (

    select
        *,
        is_tombstone
        or coalesce(upstream_offset >= 0 and downstream_offset >= 0, false)
            as is_readable

    from latest

    where recency = 1

),

checkpoints_loaded as (

    select
        flow,
        group_id,
        topic_name as target_topic_name,
        partition_index,
        source_topic_name as topic_name,
        if(is_readable, upstream_offset, null) as upstream_offset,
        if(is_readable, downstream_offset, null) as downstream_offset,
        metadata,
        log_offset,
        is_readable,
        recorded_at_ms as emitted_at_ms,
        fold_run_id as changed_in_run_id

    from latest_read

)

select * from checkpoints_loaded
