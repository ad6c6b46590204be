{# A leader's lineage by its epochs: the place of each, its first and its last offset (inclusive). A lineage may have
   hundreds of epochs, of which a segment asks for one or two. `led` has lineage and log_end_offset. #}
{% macro lineage_by_epoch(led) -%}
map_from_entries(transform({{ led }}.lineage, (epoch, position) -> struct(
            epoch.leader_epoch as leader_epoch,
            struct(
                position,
                epoch.start_offset as start_offset,
                coalesce(get({{ led }}.lineage, position + 1).start_offset, {{ led }}.log_end_offset) - 1 as last_offset
            ) as place
        )))
{%- endmacro %}

{# The segment is part of the leader's log: its epochs, their borders and its end fit the leader's lineage.
   Kafka: RemoteLogManager.isRemoteSegmentWithinLeaderEpochs. `segment` has leader_epochs, end_offset, log_end_offset,
   lineage_by_epoch and first_epoch, the lineage's. #}
{% macro is_within_lineage(segment) -%}
{%- set shared = 'filter(' ~ epochs_with_records(segment ~ '.leader_epochs') ~ ', own -> own.leader_epoch >= ' ~ segment ~ '.first_epoch)' -%}
{%- set first = epoch_of_lineage(segment, 'get(' ~ shared ~ ', 0)') -%}
{%- set last = epoch_of_lineage(segment, 'try_element_at(' ~ shared ~ ', -1)') -%}
{%- set theirs = epoch_of_lineage(segment, 'own') -%}
coalesce(
            {{ segment }}.end_offset < {{ segment }}.log_end_offset
            and {{ segment }}.end_offset <= {{ last }}.last_offset
            {# none of the leader's epochs in between is missing #}
            and size({{ shared }}) = {{ last }}.position - {{ first }}.position + 1
            and forall(
                transform(
                    {{ shared }},
                    (own, position) -> own.start_offset = {{ theirs }}.start_offset
                    or (position = 0 and (own.start_offset > {{ theirs }}.start_offset or {{ theirs }}.position = 0))
                ),
                is_fitting -> is_fitting
            ),
            false
        )
{%- endmacro %}

{# What the lineage says of an epoch of the segment. #}
{% macro epoch_of_lineage(segment, epoch) -%}
try_element_at({{ segment }}.lineage_by_epoch, {{ epoch }}.leader_epoch)
{%- endmacro %}
