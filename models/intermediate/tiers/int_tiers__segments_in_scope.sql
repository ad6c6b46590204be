with

partitions_due as (

    select distinct
        cluster_id,
        topic_id,
        partition_index

    from {{ ref('int_tiers__partitions_due') }}

),

segments_in_scope as (

    select
        {{ segment_columns('segments') }}

    from {{ ref('stg_state__remote_segments') }} as segments

    left semi join partitions_due
        on
            segments.cluster_id = partitions_due.cluster_id
            and segments.topic_id = partitions_due.topic_id
            and segments.partition_index = partitions_due.partition_index

)

select * from segments_in_scope
