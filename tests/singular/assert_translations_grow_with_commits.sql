-- Of two groups that one run translates, the one that is further on the source
-- is not behind on the target. Kafka also translates by syncs of a target that
-- has been created anew since: within one incarnation it holds for it, too.
with

translations as (

    select
        flow,
        group_id,
        topic_name,
        partition_index,
        upstream_offset,
        translated_offset,
        max(translated_offset) over (
            partition by flow, topic_name, partition_index, run_id, incarnation
            order by upstream_offset
            range between unbounded preceding and 1 preceding
        ) as translated_before

    from {{ ref('stg_decisions__offset_translations') }}

    where translated_offset is not null

)

select * from translations

where translated_offset < translated_before
