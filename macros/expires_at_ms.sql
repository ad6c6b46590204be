{# When an offset expires (inclusive), null without a clock; a sum past bigint means never. `at_ms`: the instant that is
   decided at, from which Kafka subtracts (OffsetExpirationConditionImpl): of a time so early that the difference wraps
   nothing ever expires. #}
{% macro expires_at_ms(timed, at_ms=none) %}
    case {{ timed }}.expiry_clock
        when 'explicit' then {{ timed }}.expire_at_ms
        when 'empty_since' then {{ elapses_at_ms(timed ~ '.empty_since_at_ms', timed ~ '.offsets_retention_ms', at_ms) }}
        when 'commit' then {{ elapses_at_ms(timed ~ '.commit_at_ms', timed ~ '.offsets_retention_ms', at_ms) }}
    end
{% endmacro %}

{% macro elapses_at_ms(since_ms, retention_ms, at_ms) -%}
    coalesce(
        {%- if at_ms %}
        if(try_subtract({{ at_ms }}, {{ since_ms }}) is null, null, try_add({{ since_ms }}, {{ retention_ms }})),
        {%- else %}
        try_add({{ since_ms }}, {{ retention_ms }}),
        {%- endif %}
        9223372036854775807
    )
{%- endmacro %}
