{# The segment is part of the leader's log: its epochs, their borders and its end fit the leader's lineage.
   Kafka: RemoteLogManager.isRemoteSegmentWithinLeaderEpochs. `segment` has leader_epochs, end_offset, lineage, log_end_offset. #}
{% macro is_within_lineage(segment) -%}
{{ segment }}.end_offset < {{ segment }}.log_end_offset
        and {{ last_of(epochs_with_records(segment ~ '.leader_epochs')) }}.leader_epoch
        between get({{ segment }}.lineage, 0).leader_epoch and {{ last_of(segment ~ '.lineage') }}.leader_epoch
        and forall(
            transform(
                filter({{ epochs_with_records(segment ~ '.leader_epochs') }}, own -> own.leader_epoch >= get({{ segment }}.lineage, 0).leader_epoch),
                (own, position) -> exists(
                    {{ segment }}.lineage,
                    theirs -> own.leader_epoch = theirs.leader_epoch
                    and (
                        own.start_offset = theirs.start_offset
                        or (position = 0 and (own.start_offset > theirs.start_offset or own.leader_epoch = get({{ segment }}.lineage, 0).leader_epoch))
                    )
                )
            ),
            is_fitting -> is_fitting
        )
        and {{ segment }}.end_offset < coalesce(
            get(
                filter({{ segment }}.lineage, theirs -> theirs.leader_epoch > {{ last_of(epochs_with_records(segment ~ '.leader_epochs')) }}.leader_epoch),
                0
            ).start_offset,
            {{ segment }}.log_end_offset
        )
{%- endmacro %}

{# The last item of a list, null where it is empty. #}
{% macro last_of(items) -%}
try_element_at({{ items }}, -1)
{%- endmacro %}
