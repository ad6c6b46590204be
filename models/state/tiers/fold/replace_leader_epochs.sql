{{ config(
    tags='fold_leader_epochs',
    unique_key=['cluster_id', 'topic_id', 'partition_index'],
    meta={'into': 'state.leader_epochs', 'delete_when': 's.is_gone', 'insert_when': 'not s.is_gone'}
) }}

with

loaded as (

    select * from {{ ref('stg_run__leader_epochs') }}

),

parameters as (

    select * from {{ ref('stg_run__parameters') }}

    where load_kind = 'leader_epochs'

),

stored as (

    select snapshot.*

    from {{ ref('stg_state__leader_epochs') }} as snapshot

    inner join parameters
        on array_contains(parameters.cluster_ids, snapshot.cluster_id)

),

{{ snapshot_replaced(
    loaded='loaded',
    stored='stored',
    key=['cluster_id', 'topic_id', 'partition_index'],
    compared=[
        'topic_name',
        'epochs'
    ],
    carried=[]
) }}

select * from snapshot_replaced
