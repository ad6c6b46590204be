with

flows as (

    select * from {{ ref('stg_state__flows') }}

),

records as (

    select * from {{ ref('stg_decoded__checkpoints') }}

),

checkpoints_of_mirror_maker as (

    select
        flows.flow,
        records.log_offset,
        records.group_id,
        records.topic_name as target_topic_name,
        records.partition_index,
        {{ source_topic_name('flows', 'records.topic_name') }} as topic_name,
        records.upstream_offset,
        records.downstream_offset,
        records.recorded_at_ms as emitted_at_ms

    from records

    inner join flows
        on
            records.cluster_id = flows.target_cluster_id
            and records.log_topic_name = flows.checkpoints_topic_name

    where
        records.log_partition_index = 0
        and records.upstream_offset >= 0
        and records.downstream_offset >= 0

)

select * from checkpoints_of_mirror_maker
