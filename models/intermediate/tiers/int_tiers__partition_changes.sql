with

partition_states as (

    select * from {{ ref('stg_state__partition_states') }}

),

leader_epochs as (

    select * from {{ ref('stg_state__leader_epochs') }}

),

local_segments as (

    select * from {{ ref('stg_state__local_segments') }}

),

remote_segments as (

    select * from {{ ref('stg_state__remote_segments') }}

),

changes as (

    {{ partitions_of('partition_states') }}

    union all

    {{ partitions_of('leader_epochs') }}

    union all

    {{ partitions_of('local_segments') }}

    union all

    {{ partitions_of('remote_segments') }}

),

partition_changes as (

    select
        cluster_id,
        topic_id,
        partition_index,
        max(changed_in_run_id) as changed_in_run_id

    from changes

    group by
        cluster_id,
        topic_id,
        partition_index

)

select * from partition_changes
