{# The syncs among decoded records of offset-syncs topics, each of its flow; what is no offset of Kafka's is left out.
   `flows`: relation with the settings of flows. #}
{% macro syncs_of(records, flows) -%}
    select
        flows.flow,
        0 as syncs_incarnation,
        {{ records }}.log_offset as sync_log_offset,
        {{ records }}.topic_name,
        {{ records }}.partition_index,
        {{ records }}.upstream_offset,
        {{ records }}.downstream_offset,
        {{ records }}.recorded_at_ms

    from {{ records }}

    inner join {{ flows }} as flows
        on
            {{ records }}.cluster_id = flows.syncs_cluster_id
            and {{ records }}.log_topic_name = flows.syncs_topic_name

    where {{ is_sync(records) }}
{%- endmacro %}

{# Whether a decoded record of an offset-syncs topic is a sync. #}
{% macro is_sync(records) -%}
    {{ records }}.log_partition_index = 0
        and {{ records }}.upstream_offset between 0 and 9223372036854775806
        and {{ records }}.downstream_offset between 0 and 9223372036854775806
{%- endmacro %}
