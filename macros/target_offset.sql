{# What comes of an offset that is offered to a group: of `wanted`, the state of the group there (null = no such group) and
   the offset that it has there (null = none). A group that is not empty would have the write rejected, one that is further on is never
   set back. Source: spec of KAFKA-15905, section 2.5. #}
{% macro target_offset_reason(wanted, group_state, current) -%}
case
    when {{ group_state }} not in ('EMPTY', 'DEAD') then 'TARGET_GROUP_ACTIVE'
    when {{ current }} is null then 'TARGET_ABSENT'
    when {{ current }} < {{ wanted }} then 'TARGET_BEHIND'
    when {{ current }} = {{ wanted }} then 'TARGET_EQUAL'
    else 'TARGET_AHEAD'
end
{%- endmacro %}
