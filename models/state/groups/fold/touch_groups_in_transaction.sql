{{ config(
    tags='fold_open_transactions',
    unique_key=['cluster_id', 'group_id'],
    meta={
        'into': 'state.groups',
        'update_set': {'changed_in_run_id': 's.run_id'},
        'insert_when': false
    }
) }}

{# A transaction that opened or ended changes what is decided about its group.
   Runs before the snapshot is replaced. #}
with

loaded as (

    select * from {{ ref('stg_run__open_transactions') }}

),

stored as (

    select * from {{ ref('stg_state__open_transactions') }}

),

parameters as (

    select * from {{ ref('stg_run__parameters') }}

    where load_kind = 'open_transactions'

),

groups_in_transaction as (

    select
        cluster_id,
        group_id

    from loaded

    union all

    select
        cluster_id,
        group_id

    from stored

),

groups_touched as (

    select distinct
        groups_in_transaction.cluster_id,
        groups_in_transaction.group_id,
        parameters.run_id

    from groups_in_transaction

    inner join parameters
        on
            array_contains(
                parameters.cluster_ids, groups_in_transaction.cluster_id
            )

)

select * from groups_touched
