{{ config(
    into='state.open_transactions',
    unique_key=['cluster_id', 'group_id', 'topic_name', 'partition_index', 'producer_id'],
    delete_when='s.is_gone',
    insert_when='not s.is_gone'
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

snapshot_replaced as (

    select
        coalesce(loaded.cluster_id, stored.cluster_id) as cluster_id,
        coalesce(loaded.group_id, stored.group_id) as group_id,
        coalesce(loaded.topic_name, stored.topic_name) as topic_name,
        coalesce(loaded.partition_index, stored.partition_index)
            as partition_index,
        coalesce(loaded.producer_id, stored.producer_id) as producer_id,
        loaded.run_id,
        loaded.run_id is null as is_gone

    from loaded

    full outer join stored
        on
            loaded.cluster_id = stored.cluster_id
            and loaded.group_id = stored.group_id
            and loaded.topic_name = stored.topic_name
            and loaded.partition_index = stored.partition_index
            and loaded.producer_id = stored.producer_id

)

select * from snapshot_replaced
