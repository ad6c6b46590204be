{{ config(
    tags='fold_partition_states',
    unique_key=['cluster_id', 'topic_name', 'partition_index', 'broker_id'],
    meta={
        'into': 'state.partition_states',
        'delete_when': 's.is_gone',
        'insert_when': 'not s.is_gone'
    }
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

{{ snapshot_replaced(
    loaded='loaded',
    stored='stored',
    key=['cluster_id', 'topic_name', 'partition_index', 'broker_id'],
    compared=[
        'topic_id',
        'leader_epoch',
        'log_start_offset',
        'local_log_start_offset',
        'last_stable_offset',
        'high_watermark',
        'log_end_offset',
        'is_leader'
    ],
    carried=['latest_tiered_offset', 'taken_at_ms']
) }}

select * from snapshot_replaced
