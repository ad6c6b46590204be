{{ config(
    tags='fold_local_segments',
    unique_key=['cluster_id', 'topic_id', 'partition_index', 'broker_id'],
    meta={
        'into': 'state.local_segments',
        'delete_when': 's.is_gone',
        'insert_when': 'not s.is_gone'
    }
) }}

with

loaded as (

    select * from {{ ref('stg_run__local_segments') }}

),

parameters as (

    select * from {{ ref('stg_run__parameters') }}

    where load_kind = 'local_segments'

),

stored as (

    select snapshot.*

    from {{ ref('stg_state__local_segments') }} as snapshot

    inner join parameters
        on array_contains(parameters.cluster_ids, snapshot.cluster_id)

),

{{ snapshot_replaced(
    loaded='loaded',
    stored='stored',
    key=['cluster_id', 'topic_id', 'partition_index', 'broker_id'],
    compared=[
        'topic_name',
        'segments'
    ],
    carried=[]
) }}

select * from snapshot_replaced
