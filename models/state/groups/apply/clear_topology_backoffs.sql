{{ config(
    tags='apply_cycle',
    unique_key=['cluster_id', 'group_id'],
    meta={
        'into': 'state.topology_backoffs',
        'delete_when': 'true',
        'update_set': false,
        'insert_when': false
    }
) }}

-- depends_on: {{ ref('int_groups__decided') }}
-- depends_on: {{ ref('record_plugin_calls') }}

with

clusters as (

    select * from {{ ref('int_groups__clusters_configured') }}

    where is_applied

),

calls as (

    select * from {{ ref('int_groups__plugin_calls_made') }}

    where
        operation = 'delete'
        and outcome = 'success'

),

backoffs_over as (

    select
        calls.cluster_id,
        calls.group_id

    from calls

    left semi join clusters using (cluster_id)

)

select * from backoffs_over
