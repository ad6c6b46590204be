{# Why a segment in this state does not take an event; null = it does. A full record starts a copy, updates do the rest.
   Kafka: RemoteLogMetadataCache, RemoteLogSegmentState; a deleted segment stays deleted. #}
{% macro rejection(segment_state, event) %}
    case
        when {{ event }}.is_full and {{ event }}.segment_state <> 'COPY_SEGMENT_STARTED' then 'NOT_STARTED'
        when
            {{ event }}.is_full
            and (
                {{ event }}.start_offset < 0
                or {{ event }}.end_offset < {{ event }}.start_offset
                or {{ event }}.end_offset = 9223372036854775807
                or size({{ event }}.leader_epochs) = 0
            )
            then 'INVALID_SEGMENT'
        when not {{ event }}.is_full and {{ event }}.segment_state = 'COPY_SEGMENT_STARTED' then 'STARTED_AS_UPDATE'
        when {{ segment_state }} is null and not {{ event }}.is_full then 'UNKNOWN_SEGMENT'
        when
            {{ segment_state }} is not null
            and not concat({{ segment_state }}, ' > ', {{ event }}.segment_state) in (
                'COPY_SEGMENT_STARTED > COPY_SEGMENT_STARTED',
                'COPY_SEGMENT_STARTED > COPY_SEGMENT_FINISHED',
                'COPY_SEGMENT_STARTED > DELETE_SEGMENT_STARTED',
                'COPY_SEGMENT_FINISHED > COPY_SEGMENT_FINISHED',
                'COPY_SEGMENT_FINISHED > DELETE_SEGMENT_STARTED',
                'DELETE_SEGMENT_STARTED > DELETE_SEGMENT_STARTED',
                'DELETE_SEGMENT_STARTED > DELETE_SEGMENT_FINISHED'
            )
            then 'ILLEGAL_TRANSITION'
    end
{% endmacro %}

{# The segment after an event that it takes. An update replaces broker, time, state and custom metadata, and clears the
   last if it has none. Kafka: RemoteLogSegmentMetadata.createWithUpdates. #}
{% macro segment_after(before, event) %}
    struct(
        {%- for column in ['topic_id', 'topic_name', 'partition_index', 'start_offset', 'end_offset', 'size_bytes', 'max_timestamp_ms', 'leader_epochs'] %}
        if({{ event }}.is_full, {{ event }}.{{ column }}, {{ before }}.{{ column }}) as {{ column }},
        {%- endfor %}
        {{ event }}.segment_state as segment_state,
        {{ event }}.broker_id as broker_id,
        if({{ event }}.is_full, {{ event }}.broker_id, {{ before }}.started_broker_id) as started_broker_id,
        {{ event }}.event_at_ms as event_at_ms,
        {{ first_event(before, event, 'copy_started_at_ms', 'COPY_SEGMENT_STARTED', 'event_at_ms') }},
        {{ first_event(before, event, 'copy_finished_at_ms', 'COPY_SEGMENT_FINISHED', 'event_at_ms') }},
        {{ first_event(before, event, 'delete_started_at_ms', 'DELETE_SEGMENT_STARTED', 'event_at_ms') }},
        {{ first_event(before, event, 'delete_finished_at_ms', 'DELETE_SEGMENT_FINISHED', 'event_at_ms') }},
        {{ event }}.custom_metadata as custom_metadata,
        {{ event }}.log_topic_name as log_topic_name,
        {{ event }}.log_partition_index as log_partition_index,
        {{ event }}.log_offset as log_offset,
        {{ first_event(before, event, 'finished_log_offset', 'COPY_SEGMENT_FINISHED', 'log_offset') }},
        {{ first_event(before, event, 'delete_started_log_offset', 'DELETE_SEGMENT_STARTED', 'log_offset') }},
        coalesce({{ before }}.events, 0) + 1 as events
    )
{% endmacro %}

{# What the first event that brought the segment into a state says. #}
{% macro first_event(before, event, column, segment_state, field) -%}
    coalesce({{ before }}.{{ column }}, if({{ event }}.segment_state = '{{ segment_state }}', {{ event }}.{{ field }}, null)) as {{ column }}
{%- endmacro %}

{# One step of the fold: the segment after an event, and the events that were not taken so far. #}
{% macro segment_folded(folded, event) %}
    struct(
        if(
            {{ rejection(folded ~ '.segment.segment_state', event) }} is null,
            {{ segment_after(folded ~ '.segment', event) }},
            {{ folded }}.segment
        ) as segment,
        if(
            {{ rejection(folded ~ '.segment.segment_state', event) }} is null,
            {{ folded }}.rejected,
            array_append(
                {{ folded }}.rejected,
                struct(
                    {{ event }}.log_topic_name as log_topic_name,
                    {{ event }}.log_partition_index as log_partition_index,
                    {{ event }}.log_offset as log_offset,
                    {{ event }}.topic_id as topic_id,
                    {{ event }}.topic_name as topic_name,
                    {{ event }}.partition_index as partition_index,
                    {{ folded }}.segment.segment_state as from_state,
                    {{ event }}.segment_state as to_state,
                    {{ event }}.event_at_ms as event_at_ms,
                    {{ event }}.broker_id as broker_id,
                    {{ rejection(folded ~ '.segment.segment_state', event) }} as rejection
                )
            )
        ) as rejected
    )
{% endmacro %}

{# No event was rejected yet. #}
{% macro no_rejected_events() -%}
    cast(array() as array<struct<log_topic_name:string,log_partition_index:int,log_offset:bigint,topic_id:string,topic_name:string,partition_index:int,from_state:string,to_state:string,event_at_ms:bigint,broker_id:int,rejection:string>>)
{%- endmacro %}
