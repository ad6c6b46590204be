with

last_runs as (

    select * from {{ ref('int_mirrors__last_runs') }}

),

partitions as (

    select * from {{ ref('stg_state__mirrored_partitions') }}

),

syncs as (

    select * from {{ ref('stg_state__offset_syncs') }}

    {# a single row of literals becomes a literal, by which Delta skips files #}
    where changed_in_run_id > (
        select changes_read.since_run_id from {{ ref('int_mirrors__changes_read') }} as changes_read
    )

),

changed as (

    select partitions.*

    from partitions

    left semi join last_runs
        on
            partitions.flow = last_runs.flow
            and partitions.changed_in_run_id > last_runs.run_id

),

{# a sync also closes the bracket that the one before it had opened #}
syncs_changed as (

    select
        syncs.flow,
        syncs.topic_name,
        syncs.partition_index,
        min(
            least(syncs.upstream_offset, syncs.previous_upstream_offset)
        ) as first_upstream_offset,
        max(
            syncs.downstream_offset - syncs.previous_downstream_offset
            > syncs.upstream_offset - syncs.previous_upstream_offset
        ) as has_surplus

    from syncs

    inner join last_runs
        on
            syncs.flow = last_runs.flow
            and syncs.changed_in_run_id > last_runs.run_id

    group by
        syncs.flow,
        syncs.topic_name,
        syncs.partition_index

),

partitions_changed as (

    select
        changed.flow,
        changed.topic_name,
        changed.partition_index,
        changed.incarnation,
        changed.parity_incarnation,
        coalesce(syncs_changed.has_surplus, true) as has_surplus,
        coalesce(syncs_changed.first_upstream_offset, 0)
            as first_upstream_offset

    from changed

    left join syncs_changed using (flow, topic_name, partition_index)

)

select * from partitions_changed
