{{ config(
    tags='apply_requests',
    unique_key=['cluster_id', 'group_id', 'topic_name', 'partition_index'],
    meta={
        'into': 'state.group_offsets',
        'skips_no_rows': true,
        'matched_condition': 'not t.is_deleted',
        'update_set': {
            'is_deleted': 'true',
            'deleted_by': "'delete_groups'",
            'deleted_at_ms': 'unix_millis(current_timestamp())',
            'deleted_run_id': 's.run_id',
            'changed_in_run_id': 's.run_id'
        },
        'insert_when': false
    }
) }}

-- depends_on: {{ ref('int_groups__decided') }}
-- depends_on: {{ ref('settle_requested_groups') }}

with

parameters as (

    select * from {{ ref('stg_run__parameters') }}

),

groups_deleted as (

    select
        cluster_id,
        group_id,
        deleted_run_id as run_id

    from {{ ref('stg_state__groups') }}

    where
        deleted_by = 'delete_groups'
        and deleted_run_id = (select parameters.run_id from parameters)

),

group_offsets as (

    select * from {{ ref('stg_state__group_offsets') }}

    where not is_deleted

),

offsets_of_deleted_groups as (

    select
        group_offsets.cluster_id,
        group_offsets.group_id,
        group_offsets.topic_name,
        group_offsets.partition_index,
        groups_deleted.run_id

    from group_offsets

    inner join groups_deleted using (cluster_id, group_id)

)

select * from offsets_of_deleted_groups
