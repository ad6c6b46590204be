{# The name under which a topic of the source is mirrored. A topic that came from the target has its first name there again;
   a separator at the end of a name separates nothing. Kafka: MirrorCheckpointTask.renameTopicPartition, DefaultReplicationPolicy. #}
{% macro target_topic_name(flows, topic_name) -%}
    case
        when {{ flows }}.keeps_topic_names then {{ topic_name }}
        when
            split_part({{ topic_name }}, {{ flows }}.separator, 1) = {{ flows }}.target_cluster_id
            and {{ topic_name }} not in (
                {{ flows }}.target_cluster_id, concat({{ flows }}.target_cluster_id, {{ flows }}.separator)
            )
            then if(
                endswith({{ topic_name }}, {{ flows }}.separator),
                concat(
                    split_part(
                        left({{ topic_name }}, length({{ topic_name }}) - length({{ flows }}.separator)),
                        {{ flows }}.separator, -1
                    ),
                    {{ flows }}.separator
                ),
                split_part({{ topic_name }}, {{ flows }}.separator, -1)
            )
        else concat({{ flows }}.source_cluster_id, {{ flows }}.separator, {{ topic_name }})
    end
{%- endmacro %}

{# The topic of the source that has this name on the target; null = no topic has. #}
{% macro source_topic_name(flows, topic_name) -%}
    case
        when {{ flows }}.keeps_topic_names then {{ topic_name }}
        when startswith({{ topic_name }}, concat({{ flows }}.source_cluster_id, {{ flows }}.separator))
            then substring({{ topic_name }}, length({{ flows }}.source_cluster_id) + length({{ flows }}.separator) + 1)
        when instr({{ topic_name }}, {{ flows }}.separator) = 0
            then concat({{ flows }}.target_cluster_id, {{ flows }}.separator, {{ topic_name }})
    end
{%- endmacro %}
