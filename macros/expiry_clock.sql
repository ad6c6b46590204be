{# Which clock runs for an offset: explicit, empty_since, commit; null = nothing of the group ever expires, or the
   commit is unreadable. Each member brings its protocol type, be it the empty text: a group that has neither is a simple one.
   Kafka: Group.offsetExpirationCondition of each group type. #}
{% macro expiry_clock(group, offset) %}
    case
        when {{ group }}.group_type = 'share' then null
        when
            {{ group }}.group_type = 'classic'
            and ({{ group }}.protocol_type <> '' or {{ group }}.member_count > 0)
            and {{ group }}.group_state <> 'EMPTY'
            and not (
                {{ group }}.protocol_type = 'consumer'
                and {{ group }}.subscribed_topics is not null
                and {{ group }}.group_state = 'STABLE'
            )
            then null
        when {{ offset }}.expire_at_ms is not null then 'explicit'
        when
            {{ group }}.group_type = 'classic'
            and {{ group }}.protocol_type <> ''
            and {{ group }}.group_state = 'EMPTY'
            and {{ group }}.empty_since_at_ms is not null
            then 'empty_since'
        when {{ offset }}.commit_at_ms is not null then 'commit'
    end
{% endmacro %}
