{# Which partition of __remote_log_metadata tells of a partition: murmur2 over the four bytes of a 31-chain of Java's
   hash codes of the topic id's low half, its high half and the partition; unsigned 32-bit sums in bigint. Null for an
   id that is not Kafka's.
   Kafka: RemoteLogMetadataTopicPartitioner. #}
{% macro metadata_partition_index(partition, topic) %}
    {%- set bytes = "hex(try_to_binary(concat(translate(" ~ partition ~ ".topic_id, '-_', '+/'), '=='), 'base64'))" -%}
    {%- set word = "cast(conv(substr(" ~ bytes ~ ", %s, 8), 16, 10) as bigint)" -%}
    {%- set low, high = word % 17 ~ " ^ " ~ word % 25, word % 1 ~ " ^ " ~ word % 9 -%}
    cast(
        get(
            transform(transform(transform(transform(transform(transform(
                array(((31 + ({{ low }})) * 31 + ({{ high }})) * 31 + {{ partition }}.partition_index),
                h -> shiftleft(h & 255, 24) | shiftleft(h & 65280, 8)
                    | shiftright(h & 16711680, 8) | shiftright(h & 4278190080, 24)),
                k -> (k * 1540483477) & 4294967295),
                k -> ((k ^ shiftright(k, 24)) * 1540483477) & 4294967295),
                k -> k ^ ((2538058376 * 1540483477) & 4294967295)),
                h -> ((h ^ shiftright(h, 13)) * 1540483477) & 4294967295),
                h -> ((h ^ shiftright(h, 15)) & 2147483647) % {{ topic }}.partition_count),
            0
        ) as int
    )
{% endmacro %}
