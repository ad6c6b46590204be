with

share_partitions as (

    select * from {{ ref('int_groups__share_partitions') }}

),

deleted_groups as (

    select * from {{ ref('stg_state__groups') }}

    where is_deleted

),

partitions_told as (

    select * from {{ ref('int_groups__partitions_told') }}

),

{# a partition that the snapshot lacks has the name of its topic #}
topics_told as (

    select
        cluster_id,
        topic_id,
        max(topic_name) as topic_name

    from partitions_told

    where topic_id is not null

    group by
        cluster_id,
        topic_id

),

{# GroupCoordinatorService: end - start - what is done with after the start; Kafka answers
   -1 where one of the two is not known #}
share_group_lag as (

    select
        share_partitions.cluster_id,
        share_partitions.group_id,
        topics_told.topic_name,
        share_partitions.partition_index,
        share_partitions.topic_id,
        share_partitions.start_offset,
        share_partitions.delivery_complete_count,
        told.high_watermark,
        greatest(
            told.high_watermark
            - share_partitions.start_offset
            - share_partitions.delivery_complete_count,
            if(
                told.high_watermark is null
                or share_partitions.start_offset is null
                or share_partitions.delivery_complete_count is null,
                null,
                0
            )
        ) as lag,
        {{ instant('share_partitions.recorded_at_ms') }} as recorded_at,
        {{ instant('told.taken_at_ms') }} as end_taken_at

    from share_partitions

    left anti join deleted_groups
        on
            share_partitions.cluster_id = deleted_groups.cluster_id
            and share_partitions.group_id = deleted_groups.group_id

    left join topics_told
        on
            share_partitions.cluster_id = topics_told.cluster_id
            and share_partitions.topic_id = topics_told.topic_id

    left join partitions_told as told
        on
            share_partitions.cluster_id = told.cluster_id
            and share_partitions.topic_id = told.topic_id
            and share_partitions.partition_index = told.partition_index

)

select * from share_group_lag
