{# The last offset (inclusive) of each leader epoch of a segment, beside its first. #}
{% macro offsets_by_epoch(segment) -%}
transform({{ segment }}.leader_epochs, (epoch, position) -> struct(
    epoch.leader_epoch as leader_epoch,
    epoch.start_offset as start_offset,
    coalesce(try_subtract(get({{ segment }}.leader_epochs, position + 1).start_offset, 1L), {{ segment }}.end_offset) as last_offset
))
{%- endmacro %}
