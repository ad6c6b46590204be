with

translations as (

    select * from {{ ref('int_mirrors__offset_translations_decided') }}

),

target_offset_writes as (

    select * from {{ ref('int_mirrors__target_offset_writes_decided') }}

),

surpluses as (

    select * from {{ ref('mirror_surpluses') }}

),

reasons as (

    select
        reason_code,
        max_by(reason_text, decision_table) as reason_text

    from {{ ref('reason_codes') }}

    where domain = 'mirrors'

    group by reason_code

),

{# what is of another reason than the group's own place in the target is refused #}
offers as (

    select
        *,
        if(
            decision = 'skip' and not startswith(reason_code, 'TARGET_'), reason_code, null
        ) as refusal_code

    from target_offset_writes

),

{# where a group goes on, and what it would be if nothing waited for a target that gains #}
translations_placed as (

    select
        translations.flow,
        translations.group_id,
        translations.topic_name,
        translations.target_topic_name,
        translations.partition_index,
        translations.upstream_offset,
        translations.reason_code,
        translations.decided_at_ms,
        translations.upper_bound,
        translations.decision = 'emit'
        or translations.reason_code in (
            'SKIP_REPEATED', 'SKIP_DOWNSTREAM_REWIND', 'REPLAY_CATCHING_UP'
        )
        or (
            offers.flow is not null
            and translations.reason_code in ('BEFORE_FIRST_SYNC', 'NO_SYNC')
        ) as is_answered,
        if(
            translations.decision = 'emit',
            translations.translated_offset,
            greatest(
                translations.translated_offset,
                translations.observed_downstream_offset
            )
        ) as placed_offset,
        if(
            translations.upstream_offset >= surpluses.waits_from_offset,
            translations.waiting_offset,
            null
        ) as waiting_offset,
        surpluses.surplus_offsets,
        offers.to_offset,
        offers.refusal_code

    from translations

    left join offers
        using (flow, group_id, target_topic_name, partition_index)

    left join surpluses
        using (flow, topic_name, partition_index)

),

{# one that goes on from the last checkpoint is no worse off than with a new one, but for one
   that is refused, and one that nothing brings on #}
partitions_sorted as (

    select
        flow,
        group_id,
        topic_name,
        target_topic_name,
        partition_index,
        upstream_offset,
        to_offset,
        reason_code = 'REPLAY_CATCHING_UP' as is_waiting_for_replay,
        case
            when refusal_code is not null then refusal_code
            when not is_answered then reason_code
            when waiting_offset > placed_offset then 'TARGET_HAS_SURPLUS'
        end as blocked_by,
        waiting_offset,
        surplus_offsets,
        if(
            upper_bound is null, null, greatest(upper_bound - placed_offset, 0)
        ) as reread_max,
        decided_at_ms

    from translations_placed

    union all

    {# a checkpoint without a commit is MirrorMaker's offer all the same #}
    select
        offers.flow,
        offers.group_id,
        null as topic_name,
        offers.target_topic_name,
        offers.partition_index,
        null as upstream_offset,
        offers.to_offset,
        false as is_waiting_for_replay,
        offers.refusal_code as blocked_by,
        null as waiting_offset,
        null as surplus_offsets,
        null as reread_max,
        offers.decided_at_ms

    from offers

    left anti join translations
        on
            offers.flow = translations.flow
            and offers.group_id = translations.group_id
            and offers.target_topic_name = translations.target_topic_name
            and offers.partition_index = translations.partition_index

    where offers.refusal_code is not null

),

failover_partitions as (

    select
        placed.flow,
        placed.group_id,
        placed.topic_name,
        placed.target_topic_name,
        placed.partition_index,
        placed.upstream_offset,
        placed.to_offset,
        placed.blocked_by is null as is_translated,
        placed.is_waiting_for_replay,
        placed.blocked_by,
        reasons.reason_text,
        placed.reread_max,
        if(
            placed.blocked_by = 'TARGET_HAS_SURPLUS', placed.waiting_offset, null
        ) as waiting_offset,
        if(
            placed.blocked_by = 'TARGET_HAS_SURPLUS', placed.surplus_offsets, null
        ) as surplus_offsets,
        {{ instant('placed.decided_at_ms') }} as decided_at

    from partitions_sorted as placed

    left join reasons on placed.blocked_by = reasons.reason_code

)

select * from failover_partitions
