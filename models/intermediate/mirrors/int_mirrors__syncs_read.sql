{{ config(materialized='run_list', meta={'as_literals': true}) }}

with

placed as (

    select * from {{ ref('int_mirrors__syncs_placed') }}

),

loaded as (

    select * from {{ ref('stg_run__offset_syncs') }}

),

partitions as (

    select * from {{ ref('stg_state__mirrored_partitions') }}

),

first_loaded as (

    select min(log_offset) as log_offset from loaded

),

first_folded as (

    select min(sync_log_offset) as log_offset

    from placed

    where not is_stored

),

{# a replay that has caught up now is admitted from its first sync on #}
first_waiting as (

    select min(partitions.segment_first_sync_log_offset) as log_offset

    from partitions

    left semi join placed
        on
            partitions.flow = placed.flow
            and partitions.topic_name = placed.topic_name
            and partitions.partition_index = placed.partition_index
            and placed.is_stored
            and placed.is_admitted
            and not placed.was_admitted

),

{# the record before a sync tells whether there is a gap #}
syncs_read as (

    select
        coalesce(
            least(
                first_loaded.log_offset,
                first_folded.log_offset,
                first_waiting.log_offset
            ) - 1,
            9223372036854775807
        ) as first_log_offset

    from first_loaded

    cross join first_folded

    cross join first_waiting

)

select * from syncs_read
