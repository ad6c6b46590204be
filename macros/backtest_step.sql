{# One commit of a back-test: the guard against what was emitted last, as of decisions.offset_translations. The words inside: `s` the
   state, `c` the commit with its translation. Source: spec of KAFKA-15905, sections 2.4 and 4.7. #}
{% macro backtest_step() -%}
(s, c) -> {{ let('reason', backtest_reason(), backtest_state_after()) }}
{%- endmacro %}

{% macro backtest_state_type() -%}
struct<upstream_offset: bigint, downstream_offset: bigint, incarnation: int, reason_codes: array<string>>
{%- endmacro %}

{% macro backtest_reason() -%}
case
    when c.translated_offset is null then 'NO_SYNC'
    when c.translated_offset < 0 then 'BEFORE_FIRST_SYNC'
    when s.downstream_offset is null then 'EMIT_FIRST'
    when s.incarnation <> c.incarnation then 'EMIT_NEW_INCARNATION'
    when c.committed_offset < s.upstream_offset then 'EMIT_GROUP_REWIND'
    when c.translated_offset > s.downstream_offset then 'EMIT_ADVANCED'
    when c.translated_offset = s.downstream_offset then 'SKIP_REPEATED'
    else 'SKIP_DOWNSTREAM_REWIND'
end
{%- endmacro %}

{% macro backtest_state_after() -%}
named_struct(
    'upstream_offset', if(startswith(reason, 'EMIT_'), c.committed_offset, s.upstream_offset),
    'downstream_offset', if(startswith(reason, 'EMIT_'), c.translated_offset, s.downstream_offset),
    'incarnation', if(startswith(reason, 'EMIT_'), c.incarnation, s.incarnation),
    'reason_codes', array_append(s.reason_codes, reason)
)
{%- endmacro %}
