{{ config(
    tags='fold_group_listings',
    unique_key=['cluster_id', 'group_id'],
    meta={
        'into': 'state.group_listings',
        'delete_when': 's.is_gone',
        'insert_when': 'not s.is_gone'
    }
) }}

with

loaded as (

    select * from {{ ref('stg_run__group_listings') }}

),

parameters as (

    select * from {{ ref('stg_run__parameters') }}

    where load_kind = 'group_listings'

),

stored as (

    select snapshot.*

    from {{ ref('stg_state__group_listings') }} as snapshot

    inner join parameters
        on array_contains(parameters.cluster_ids, snapshot.cluster_id)

),

{{ snapshot_replaced(
    loaded='loaded',
    stored='stored',
    key=['cluster_id', 'group_id'],
    compared=[
        'group_type',
        'group_state',
        'protocol_type',
        'coordinator_id',
        'is_simple'
    ],
    carried=['taken_at_ms']
) }}

select * from snapshot_replaced
