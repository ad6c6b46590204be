{# The leader epochs of a stretch of offsets, each with its first offset in it. `offsets` as offsets_by_epoch gives them. #}
{% macro epochs_between(offsets, first_offset, last_offset) -%}
transform(
            filter(
                {{ offsets }},
                epoch -> epoch.last_offset >= greatest(epoch.start_offset, {{ first_offset }})
                and epoch.start_offset <= {{ last_offset }}
            ),
            epoch -> struct(
                epoch.leader_epoch as leader_epoch,
                greatest(epoch.start_offset, {{ first_offset }}) as start_offset
            )
        )
{%- endmacro %}
