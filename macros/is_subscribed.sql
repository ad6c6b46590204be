{# A subscription keeps the offsets of its topics. Unknown topics of the consumer protocol count as every topic.
   Kafka: Group.isSubscribedToTopic. #}
{% macro is_subscribed(group, topic_name) %}
    coalesce(
        array_contains({{ group }}.subscribed_topics, {{ topic_name }}),
        {{ group }}.protocol_type = 'consumer',
        false
    )
{% endmacro %}
