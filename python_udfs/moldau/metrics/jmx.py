"""Kafka's metrics under the names that the JMX exporter of Prometheus gives them.

A metric that is a bean of its own, with the tag `name` (`kafka.server:type=BrokerTopicMetrics,
name=UploadTierLag,topic=t,partition=0`), is named by the rule that its examples have for Kafka,
`kafka_server_$type_$name`, and tags are labels; an attribute of a bean (`streams-…-count` of
`kafka.server:type=group-coordinator-metrics`) by its default, domain, type and attribute. Both in
lower case, and what no name may hold is an underscore.
"""

from __future__ import annotations

import re


def jmx_name(mbean: str, metric_name: str) -> str:
    """`kafka.server:type=BrokerTopicMetrics`, `UploadTierLag` ->
    `kafka_server_brokertopicmetrics_uploadtierlag`."""
    domain, _, kind = mbean.partition(":type=")
    return re.sub(r"[^a-z0-9_]+", "_", f"{domain}_{kind}_{metric_name}".lower())
