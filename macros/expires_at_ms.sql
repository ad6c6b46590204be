{# When an offset expires (inclusive), null without a clock. A sum past bigint means never; the time of
   an unreadable commit is not known. #}
{% macro expires_at_ms(timed) %}
    case {{ timed }}.expiry_clock
        when 'explicit' then {{ timed }}.expire_at_ms
        when 'empty_since'
            then coalesce(try_add({{ timed }}.empty_since_at_ms, {{ timed }}.offsets_retention_ms), 9223372036854775807)
        when 'commit'
            then
                if(
                    {{ timed }}.commit_at_ms is null,
                    null,
                    coalesce(try_add({{ timed }}.commit_at_ms, {{ timed }}.offsets_retention_ms), 9223372036854775807)
                )
    end
{% endmacro %}
