with

decided as (

    select * from {{ ref('stg_decisions__offset_translations') }}

),

targets_renewed as (

    select * from {{ ref('int_mirrors__targets_renewed') }}

    where has_older_syncs

),

refuted as (

    select * from {{ ref('int_mirrors__checkpoints_refuted') }}

    where is_of_old_target

),

{# what a target that was there before proved or guarded, and what was no other after all #}
translations_outlived as (

    select
        decided.flow,
        decided.group_id,
        decided.topic_name,
        decided.partition_index

    from decided

    left join targets_renewed as renewed
        on
            decided.flow = renewed.flow
            and decided.topic_name = renewed.topic_name
            and decided.partition_index = renewed.partition_index

    left join refuted
        on
            decided.flow = refuted.flow
            and decided.group_id = refuted.group_id
            and decided.target_topic_name = refuted.target_topic_name
            and decided.partition_index = refuted.partition_index

    where
        (decided.translated_offset >= 0 and renewed.flow is not null)
        or (decided.reason_code = 'SYNC_FROM_OLD_INCARNATION' and renewed.flow is null)
        or (
            decided.reason_code in (
                'SKIP_REPEATED', 'SKIP_DOWNSTREAM_REWIND', 'REPLAY_CATCHING_UP'
            )
            and refuted.flow is not null
        )

)

select * from translations_outlived
