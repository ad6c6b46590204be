{{ config(
    into='state.remote_segments',
    unique_key=['cluster_id', 'segment_id'],
    works_on='int_tiers__segment_events_due'
) }}

with

parameters as (

    select * from {{ ref('stg_run__parameters') }}

),

segments_folded as (

    select
        due.cluster_id,
        due.segment_id,
        due.folded.segment.*,
        parameters.run_id as changed_in_run_id

    from {{ ref('int_tiers__segment_events_due') }} as due

    cross join parameters

    where due.folded.segment is not null

)

select * from segments_folded
