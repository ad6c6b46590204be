{# The segment is part of the leader's log: its epochs, their borders and its end fit the leader's lineage.
   Kafka: RemoteLogManager.isRemoteSegmentWithinLeaderEpochs. `segment` has leader_epochs, end_offset, lineage, log_end_offset. #}
{% macro is_within_lineage(segment) -%}
{%- set lineage = segment ~ '.lineage' -%}
{%- set own = epochs_with_records(segment ~ '.leader_epochs') -%}
{%- set last = last_of(own) ~ '.leader_epoch' -%}
{%- set lineage_first = 'get(' ~ lineage ~ ', 0).leader_epoch' -%}
{%- set shared = 'filter(' ~ own ~ ', own -> own.leader_epoch >= ' ~ lineage_first ~ ')' -%}
{{ segment }}.end_offset < {{ segment }}.log_end_offset
        and {{ last }} between {{ lineage_first }} and {{ last_of(lineage) }}.leader_epoch
        and forall(
            transform(
                {{ shared }},
                (own, position) -> exists(
                    {{ lineage }},
                    theirs -> own.leader_epoch = theirs.leader_epoch
                    and (
                        own.start_offset = theirs.start_offset
                        or (position = 0 and (own.start_offset > theirs.start_offset or own.leader_epoch = {{ lineage_first }}))
                    )
                )
            ),
            is_fitting -> is_fitting
        )
        {# none of the leader's epochs in between is missing #}
        and size({{ shared }}) = size(
            filter(
                {{ lineage }},
                theirs -> theirs.leader_epoch between get({{ shared }}, 0).leader_epoch and {{ last }}
            )
        )
        and {{ segment }}.end_offset < coalesce(
            get(filter({{ lineage }}, theirs -> theirs.leader_epoch > {{ last }}), 0).start_offset,
            {{ segment }}.log_end_offset
        )
{%- endmacro %}

{# The last item of a list, null where it is empty. #}
{% macro last_of(items) -%}
try_element_at({{ items }}, -1)
{%- endmacro %}
