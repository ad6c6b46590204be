{# The kind of group that a record of __consumer_offsets is of, numbered as the record that is the group itself: 2 classic,
   3 consumer, 11 share, 17 streams. #}
{% macro group_kind(record_type) -%}
    case
        when {{ record_type }} = 2 then 2
        when {{ record_type }} in (3, 4, 5, 6, 7, 8, 16) then 3
        when {{ record_type }} between 9 and 15 then 11
        else 17
    end
{%- endmacro %}

{# Whether a record is part of a group without being the group itself. As Kafka replays its log, a part makes its group
   where there is none (GroupMetadataManager.getOrMaybeCreatePersisted...Group). It knows no types 9 and 18. #}
{% macro is_group_part(record_type) -%}
    {{ record_type }} between 4 and 23 and {{ record_type }} not in (9, 11, 17, 18)
{%- endmacro %}
