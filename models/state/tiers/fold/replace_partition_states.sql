{{ config(
    into='state.partition_states',
    unique_key=['cluster_id', 'topic_name', 'partition_index', 'broker_id'],
    delete_when='s.is_gone',
    insert_when='not s.is_gone'
) }}

with

loaded as (

    select * from {{ ref('stg_run__partition_states') }}

),

parameters as (

    select * from {{ ref('stg_run__parameters') }}

    where load_kind = 'partition_states'

),

stored as (

    select snapshot.*

    from {{ ref('stg_state__partition_states') }} as snapshot

    inner join parameters
        on array_contains(parameters.cluster_ids, snapshot.cluster_id)

),

snapshot_replaced as (

    select
        coalesce(loaded.cluster_id, stored.cluster_id) as cluster_id,
        coalesce(loaded.topic_name, stored.topic_name) as topic_name,
        coalesce(loaded.partition_index, stored.partition_index)
            as partition_index,
        coalesce(loaded.broker_id, stored.broker_id) as broker_id,
        loaded.topic_id,
        loaded.leader_epoch,
        loaded.log_start_offset,
        loaded.local_log_start_offset,
        loaded.last_stable_offset,
        loaded.high_watermark,
        loaded.log_end_offset,
        loaded.is_leader,
        loaded.taken_at_ms,
        loaded.run_id,
        loaded.run_id is null as is_gone

    from loaded

    full outer join stored
        on
            loaded.cluster_id = stored.cluster_id
            and loaded.topic_name = stored.topic_name
            and loaded.partition_index = stored.partition_index
            and loaded.broker_id = stored.broker_id

)

select * from snapshot_replaced
