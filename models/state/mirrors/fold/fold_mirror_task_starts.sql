{{ config(
    tags='fold_mirror_task_starts',
    unique_key=['flow', 'started_at_ms'],
    meta={
        'into': 'state.mirror_task_starts',
        'matched_condition': differs(['syncs_end_offset', 'checkpoints_readable'])
    }
) }}

with

loaded as (

    select * from {{ ref('stg_run__mirror_task_starts') }}

),

starts_folded as (

    select
        flow,
        started_at_ms,
        syncs_end_offset,
        checkpoints_readable,
        run_id as changed_in_run_id

    from loaded

)

select * from starts_folded
