with

flows as (

    select * from {{ ref('int_mirrors__flows_configured') }}

),

starts as (

    select * from {{ ref('stg_state__mirror_task_starts') }}

),

records as (

    select * from {{ ref('stg_decoded__offset_syncs') }}

),

last_starts as (

    select
        flow,
        max_by(syncs_end_offset, started_at_ms) as syncs_end_offset

    from starts

    group by flow

),

wanted as (

    select
        flows.flow,
        flows.syncs_cluster_id,
        flows.syncs_topic_name,
        last_starts.syncs_end_offset

    from flows

    inner join last_starts using (flow)

    where last_starts.syncs_end_offset > 0

),

flows_behind as (

    select wanted.flow

    from wanted

    left anti join records
        on
            wanted.syncs_cluster_id = records.cluster_id
            and wanted.syncs_topic_name = records.log_topic_name
            and wanted.syncs_end_offset - 1 <= records.log_offset

)

select * from flows_behind
