{# MirrorMaker 2's store of offset syncs, as an expression: 64 slots a partition, the newest sync first, of which the older
   ones are ever further apart. Source: spec of KAFKA-15905, section 2.2; OffsetSyncStore.

   `syncs`: those of one partition in their order, structs of upstream_offset, clears_store (that of a start that may keep only the
   newest) and what else tells them apart, which the slots keep. #}
{% macro sparse_store(syncs) -%}
aggregate(
    slice({{ syncs }}, 2, greatest(size({{ syncs }}) - 1, 0)),
    array_repeat({{ syncs }}[0], 64),
    (slots, sync) -> if(
        sync.clears_store or sync.upstream_offset < slots[0].upstream_offset,
        array_repeat(sync, 64),
        {{ slots_updated() }}
    )
)
{%- endmacro %}

{# The sync takes slot 0 and what follows it is filled anew, until a slot is close enough to the one before it: from there on
   all stays. #}
{% macro slots_updated() -%}
aggregate(
    sequence(1, least(63, length(bin(sync.upstream_offset - slots[63].upstream_offset)))),
    array(sync),
    (filled, k) -> case
        when size(filled) < k or {{ is_recent('get(filled, k - 1)', 'get(slots, k)', 'k') }} then filled
        else array_append(filled, {{ slot_filled() }})
    end,
    filled -> concat(filled, slice(slots, size(filled) + 1, 64))
)
{%- endmacro %}

{# What slot k gets: of the syncs that stood before it the newest that is old enough, if it is recent enough too and the slot
   after it is older still; else what is in the slot before it, once more. #}
{% macro slot_filled() -%}
{{ let(
    'older',
    'get(filter(slice(slots, 1, k), s -> ' ~ is_separate('get(filled, k - 1)', 's', 'k - 1') ~ '), 0)',
    'if('
    ~ is_recent('get(filled, k - 1)', 'older', 'k')
    ~ ' and (k = 63 or older = get(slots, k + 1) or ' ~ is_separate('older', 'get(slots, k + 1)', 'k') ~ '), older, get(filled, k - 1))'
) }}
{%- endmacro %}

{# Invariant B of two neighbours. As a difference it holds where Kafka's bound overflows, as Kafka has it. #}
{% macro is_recent(newer, older, slot_of_older) -%}
{{ newer }}.upstream_offset - {{ older }}.upstream_offset <= shiftleft(1L, {{ slot_of_older }} - 1)
{%- endmacro %}

{# Invariant C of two syncs that are not the same. As a difference it is broken where Kafka's bound overflows. #}
{% macro is_separate(newer, older, slot_of_newer) -%}
{{ newer }}.upstream_offset - {{ older }}.upstream_offset >= shiftleft(1L, greatest({{ slot_of_newer }} - 2, 0))
{%- endmacro %}
