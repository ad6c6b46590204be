{# The epochs of leaders, each with the last offset (inclusive) that the log has of it; a leader without any has one row
   without an epoch. `partitions` has epochs and log_end_offset; of its columns `carried` are taken over. #}
{% macro epochs_led(partitions, carried=[]) %}
epochs_numbered as (

    select
        *,
        posexplode_outer(epochs) as (epoch_number, epoch)

    from {{ partitions }}

),

epochs_led as (

    select
        cluster_id,
        topic_id,
        partition_index,
        {%- for column in carried %}
        {{ column }},
        {%- endfor %}
        epoch.leader_epoch,
        epoch.start_offset,
        coalesce(get(epochs, epoch_number + 1).start_offset, log_end_offset) - 1 as last_offset

    from epochs_numbered

)
{% endmacro %}

{# How far a leader takes its log to be copied: the newest of its epochs of which something is, cut where the epoch ends in
   its own log. Kafka: RemoteLogManager.findHighestRemoteOffset; the log's end cuts the newest epoch since 4.4.0. #}
{% macro highest_copied(copied, led, is_copied) -%}
max(
            if(
                {{ is_copied }},
                struct({{ led }}.leader_epoch, least({{ copied }}.last_offset, {{ led }}.last_offset) as last_offset),
                null
            )
        )
{%- endmacro %}
