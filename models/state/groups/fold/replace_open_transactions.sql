{{ config(
    tags='fold_open_transactions',
    unique_key=['cluster_id', 'group_id', 'topic_name', 'partition_index', 'producer_id'],
    meta={
        'into': 'state.open_transactions',
        'delete_when': 's.is_gone',
        'insert_when': 'not s.is_gone'
    }
) }}

-- depends_on: {{ ref('touch_groups_in_transaction') }}

with

loaded as (

    select * from {{ ref('stg_run__open_transactions') }}

),

parameters as (

    select * from {{ ref('stg_run__parameters') }}

    where load_kind = 'open_transactions'

),

stored as (

    select snapshot.*

    from {{ ref('stg_state__open_transactions') }} as snapshot

    inner join parameters
        on array_contains(parameters.cluster_ids, snapshot.cluster_id)

),

{{ snapshot_replaced(
    loaded='loaded',
    stored='stored',
    key=[
        'cluster_id', 'group_id', 'topic_name', 'partition_index', 'producer_id'
    ],
    compared=[]
) }}

select * from snapshot_replaced
