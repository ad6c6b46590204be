"""What holds for each topic: rows of `topic_configs`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from confluent_kafka import KafkaError
from kafka.protocol.admin import DescribeConfigsRequest

from moldau.collecting.asker import Asker, error_name, in_parts
from moldau.collecting.topics import Topic
from moldau.instants import now_ms

_TOPIC = 2  # ConfigResource.Type
_AT_ONCE = 500  # topics of a request, each of which is answered by some forty configs
_GONE = {KafkaError.UNKNOWN_TOPIC_OR_PART}


def topic_configs(
    asker: Asker, topics: Sequence[Topic], known: Mapping[str, Mapping[str, str]]
) -> tuple[list[dict[str, Any]], list[str]]:
    """A row for each topic whose configs are others than those `known` of its id.

    All that holds, whether the topic says it, or the broker, or nobody; what is secret is left
    out. With the rows come lines about topics that told nothing.
    """
    rows, findings = [], []
    ids = {topic.name: topic.topic_id for topic in topics if topic.topic_id}
    for names in in_parts(ids, _AT_ONCE):
        resources = [DescribeConfigsRequest.DescribeConfigsResource(
            resource_type=_TOPIC, resource_name=name, configuration_keys=None
        ) for name in names]  # fmt: skip
        valid_from_ms = now_ms()
        request = DescribeConfigsRequest(resources=resources, min_version=1)
        for told in asker.ask(request).results:
            name = told.resource_name
            if told.error_code:
                if told.error_code not in _GONE:
                    findings.append(
                        f"{name}: {error_name(told.error_code)} (DESCRIBE_CONFIGS); what holds "
                        "for it is unknown"
                    )
                continue
            configs = {
                each.name: each.value
                for each in told.configs
                if each.value is not None and not each.is_sensitive
            }
            if known.get(ids[name] or "") != configs:
                rows.append({
                    "topic_id": ids[name], "topic": name, "configs": configs,
                    "valid_from_ms": valid_from_ms,
                })  # fmt: skip
    return rows, findings
